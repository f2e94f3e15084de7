"""What the user builds: bodies, joints, frames, and the graph they make."""
