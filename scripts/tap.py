"""Results of a test program as TAP, which meson reads: one line a check, the reason below it."""
import sys
import traceback

MAX_NOTES = 20


class Broken(Exception):
    """The thing under test could not even be asked; the message says all there is to know."""


class Undecided(Exception):
    """Why a check that was made proves nothing, neither way."""


class Tap:
    """Counts checks and prints them as they come."""

    def __init__(self):
        self.count, self.bad = 0, 0

    def point(self, good, name, notes=()):
        """One check. `notes` is what to know if it failed: a text or a list of lines."""
        self.count += 1
        self.bad += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name.replace('#', '')}")
        if not good:
            texts = [notes] if isinstance(notes, str) else notes
            lines = [line for text in texts for line in str(text).splitlines()]
            for line in lines[:MAX_NOTES]:
                print(f"# {line}")
            if len(lines) > MAX_NOTES:
                print(f"# ({len(lines) - MAX_NOTES} more)")
        sys.stdout.flush()
        return good

    def skip(self, name, reason):
        self.count += 1
        print(f"ok {self.count} - {name.replace('#', '')} # SKIP {reason}", flush=True)

    def run(self, name, check):
        """One check that is a function: it fails by an exception or by returning complaints; Undecided skips it."""
        try:
            complaints = check()
        except Undecided as reason:
            return self.skip(name, reason)
        except Broken as e:
            complaints = [e]
        except Exception as e:  # whatever a broken program under test brings about
            where = traceback.format_exc().splitlines()[-5:]
            complaints = [f"{type(e).__name__}: {e}"] + where
        return self.point(not complaints, name, complaints or ())

    def done(self):
        """Prints the plan; gives the exit status."""
        print(f"1..{self.count}" if self.count else "1..0 # SKIP nothing to check", flush=True)
        return 1 if self.bad else 0
