"""Models as users build them: bodies, joints, frames, and the graph they make."""
