"""Events, contacts and impacts of a run."""
