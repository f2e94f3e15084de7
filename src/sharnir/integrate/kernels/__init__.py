"""Every function of the step loop, in the dialect: interpreted as it stands, or compiled (../workspace.py)."""
