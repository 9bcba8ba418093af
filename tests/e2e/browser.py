"""A headless Chromium, spoken to over its pipe: opens a page from a file, runs scripts in it, and says
what went wrong on its console."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")


def found():
    """The command; None where there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """`scheme` is light or dark. Ends with close(), or as a context."""

    def __init__(self, width=1280, height=900, scheme="light"):
        self.folder = tempfile.mkdtemp(prefix="iotrace-browser-")
        to_it, self.out = os.pipe()
        self.into, from_it = os.pipe()
        # The browser reads from descriptor 3 and writes to 4, whatever these are here.
        script = f"exec 3<&{to_it} 4>&{from_it}; exec \"$@\""
        self.process = subprocess.Popen(
            ["bash", "-c", script, "bash", found(), "--headless", "--no-sandbox", "--disable-gpu",
             "--remote-debugging-pipe", f"--user-data-dir={self.folder}", "--no-first-run",
             "--disable-background-networking", "--force-device-scale-factor=1"],
            pass_fds=(to_it, from_it), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_it)
        os.close(from_it)
        self.rest, self.number, self.console, self.requests = b"", 0, [], []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for part in ("Page", "Runtime", "Log", "Network"):
            self.ask(part + ".enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=width < 500)
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _next(self, until):
        while b"\0" not in self.rest:
            if not select.select([self.into], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.into, 1 << 16)
            if not more:
                raise EOFError("the browser ended")
            self.rest += more
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def _note(self, message):
        """Errors on the console, and what the page asked the network for."""
        what, of = message.get("method"), message.get("params", {})
        if what == "Runtime.exceptionThrown":
            details = of["exceptionDetails"]
            self.console.append(details.get("exception", {}).get("description", details["text"]))
        elif what == "Runtime.consoleAPICalled" and of["type"] in ("error", "warning", "assert"):
            self.console.append(str([a.get("value") for a in of["args"]]))
        elif what == "Log.entryAdded" and of["entry"]["level"] in ("error", "warning"):
            self.console.append(of["entry"]["text"])
        elif what == "Network.requestWillBeSent":
            self.requests.append(of["request"]["url"])
        return what

    def ask(self, method, seconds=60, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + seconds
        while True:
            answer = self._next(until)
            self._note(answer)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, path, seconds=60):
        """Opens a file. Returns how long it took until it was loaded, in seconds."""
        start, until = time.monotonic(), time.monotonic() + seconds
        self.ask("Page.navigate", url=path.resolve().as_uri())
        while self._note(self._next(until)) != "Page.loadEventFired":
            pass
        return time.monotonic() - start

    def run(self, script):
        """The value of an expression in the page; promises are waited for."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True,
                          awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description"))
        return answer["result"].get("value")

    def frame(self):
        """Waits until what was asked for is drawn."""
        self.run("new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)))")

    def mouse(self, kind, x, y, **more):
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def key(self, key, text=None):
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, **({"text": text} if text else {}))
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key)

    def picture(self, height):
        """The page from its top to so many pixels down, as PNG."""
        width = self.run("innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png", clip=clip,
                                         captureBeyondViewport=True)["data"])
