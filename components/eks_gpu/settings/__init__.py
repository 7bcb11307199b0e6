"""How people say what they want: frozen blocks, the stack file's root, its loader and its JSON schema. Pure."""
