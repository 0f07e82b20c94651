"""A real browser for tests: Chromium without a window, spoken to through two pipes.

The DevTools protocol as JSON that ends in a zero byte: no port, no driver, no package. What the
page writes to its console, and what its security policy blocks, is kept in ``said``.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 120.0  # seconds, for a busy machine


def find():
    """The path of a browser; None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One browser with one page."""

    def __init__(self, program: str, profile: Path) -> None:
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        words = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        words += ["--disable-dev-shm-usage", "--disable-background-networking", "--mute-audio"]
        words += ["--disable-extensions", "--disable-component-update", "--disable-sync"]
        words += ["--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={profile}"]
        shell = f'exec "$@" 3<&{to_read} 4>&{to_write}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *words, "about:blank"],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self._buffer, self._last, self.said = b"", 0, []
        self._session: str | None = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **params):
        """The result of one command of the protocol."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._next(until)
            if answer.get("id") == self._last:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def _next(self, until):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(until - time.monotonic(), 0))
            data = os.read(self._read, 1 << 20) if ready else b""
            if not data:
                raise TimeoutError("the browser does not answer")
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(text)
        kind, params = message.get("method"), message.get("params", {})
        if kind == "Runtime.exceptionThrown":
            self.said.append(params["exceptionDetails"])
        elif kind == "Runtime.consoleAPICalled":
            self.said.append([part.get("value") for part in params["args"]])
        elif kind == "Log.entryAdded":
            self.said.append(params["entry"]["text"])
        elif kind == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        return message

    def size(self, width, height, dark=False):
        """As if the window were so large, on a system in light or dark colours."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, path):
        """Show a file, and wait until its script has drawn it."""
        self.said, self.requests = [], []
        self.ask("Page.navigate", url=Path(path).resolve().as_uri())
        self.wait("document.readyState === 'complete'")

    def wait(self, condition):
        """Until an expression is true; a busy machine may take its time."""
        until = time.monotonic() + PATIENCE
        while not self.run(condition):
            assert time.monotonic() < until, f"{condition} does not come true: {self.said}"
            time.sleep(0.05)

    def run(self, expression):
        """The value of an expression in the page."""
        found = self.ask(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def click(self, selector, nth=0):
        """A real click in the middle of an element."""
        box = self.run(
            f"(() => {{ const e = document.querySelectorAll({json.dumps(selector)})[{nth}];"
            " e.scrollIntoView({block: 'center', behavior: 'instant'});"
            " const b = e.getBoundingClientRect();"
            " return [b.left + b.width / 2, b.top + b.height / 2]; })()"
        )
        self.press_at(*box)

    def press_at(self, x, y):
        """A real click at a point of the window."""
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, name, text=None):
        """One key, pressed and let go."""
        codes = {"Tab": 9, "Enter": 13, " ": 32, "ArrowLeft": 37, "ArrowUp": 38}
        codes |= {"ArrowRight": 39, "ArrowDown": 40}
        text = {"Enter": "\r", " ": " "}.get(name)
        more = {"text": text} if text else {}
        code = codes.get(name, 0)
        for kind in ("keyDown", "keyUp"):
            self.ask(
                "Input.dispatchKeyEvent",
                type=kind,
                key=name,
                code=name,
                windowsVirtualKeyCode=code,
                **(more if kind == "keyDown" else {}),
            )

    def screenshot(self, path, whole=True):
        """The page as a PNG."""
        data = self.ask("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        """End this browser, and nothing else."""
        os.close(self._write)  # a browser whose pipe ends, ends
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
