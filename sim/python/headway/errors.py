"""What goes wrong, as the command line would say it."""


class InputError(ValueError):
    """The input is wrong. The text has every problem with its place, its reason and its remedy;
    `diagnostics` has the same as a list of dicts: severity, message, file, line and column (0 where
    a file as a whole is meant), pointer, label, help, related."""

    def __init__(self, text, diagnostics):
        super().__init__(text)
        self.diagnostics = diagnostics

    def __reduce__(self):
        return type(self), (str(self), self.diagnostics)


class MachineError(RuntimeError):
    """The machine did not do what was asked of it: a full disk, no memory, no process."""


class InternalError(RuntimeError):
    """A mistake of Headway itself."""
