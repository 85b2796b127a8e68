"""
A headless Chromium, told what to do through a pipe: messages of its DevTools
protocol, JSON that ends with a NUL.  No library is needed for that.
SPDX-License-Identifier: PostgreSQL
"""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ('chromium', 'chromium-browser', 'google-chrome')


class Failed(Exception):
    """The browser, or what it shows, is not as it has to be."""


class Browser:
    """One browser with one page; to be used in a with statement."""

    def __init__(self):
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)
        if program is None:
            raise FileNotFoundError('no browser')
        self.home = tempfile.mkdtemp()
        self.errors = []        # what the console says, and is not good
        self.last = 0
        self.rest = b''
        ours, theirs = os.pipe(), os.pipe()
        arguments = [program, '--headless', '--no-sandbox', '--disable-gpu',
                     '--hide-scrollbars', '--remote-debugging-pipe',
                     '--user-data-dir=' + self.home, 'about:blank']
        # The browser reads what is 3 there and writes to 4.
        self.process = subprocess.Popen(
            ['bash', '-c', 'exec 3<&%d 4>&%d; exec "$@"' % (ours[0], theirs[1]),
             'browser'] + arguments, pass_fds=(ours[0], theirs[1]),
            env=dict(os.environ, HOME=self.home),
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self.to, self.back = ours[1], theirs[0]
        self.session = None
        target = next(t['targetId'] for t in self.call('Target.getTargets')
                      ['targetInfos'] if t['type'] == 'page')
        self.session = self.call('Target.attachToTarget', targetId=target,
                                 flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(domain + '.enable')
        self.call('Emulation.setFocusEmulationEnabled', enabled=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to)
        self.process.terminate()
        self.process.wait()
        os.close(self.back)
        shutil.rmtree(self.home, ignore_errors=True)

    def message(self):
        """The next message of the browser."""
        while b'\0' not in self.rest:
            read = os.read(self.back, 1 << 16)
            if not read:
                raise Failed('the browser has ended')
            self.rest += read
        message, self.rest = self.rest.split(b'\0', 1)
        return json.loads(message)

    def call(self, method, **parameters):
        """Call a method of the protocol, and note events until it answers."""
        self.last += 1
        message = {'id': self.last, 'method': method, 'params': parameters}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.to, json.dumps(message).encode() + b'\0')
        while True:
            answer = self.message()
            if answer.get('id') == self.last:
                break
            self.note(answer)
        if 'error' in answer:
            raise Failed('%s: %s' % (method, answer['error']['message']))
        return answer['result']

    def note(self, event):
        """Keep what an event complains of, or tells of the network."""
        said = event.get('params', {})
        if event.get('method') == 'Runtime.exceptionThrown':
            self.errors.append(json.dumps(said['exceptionDetails']))
        elif event.get('method') == 'Log.entryAdded':
            self.errors.append(said['entry']['text'])
        elif event.get('method') == 'Runtime.consoleAPICalled':
            self.errors.append(json.dumps(said['args']))
        elif event.get('method') == 'Network.requestWillBeSent':
            if not said['request']['url'].startswith('file:'):
                self.errors.append('asks for ' + said['request']['url'][:80])

    def run(self, script):
        """What a script gives; a promise is waited for."""
        result = self.call('Runtime.evaluate', expression=script,
                           returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in result:
            raise Failed('%s: %s' % (script, result['exceptionDetails']))
        return result['result'].get('value')

    def wait(self, condition, seconds=30):
        """Wait until a condition of the page holds."""
        end = time.monotonic() + seconds
        while not self.run(condition):
            if time.monotonic() > end:
                raise Failed('in vain: %s %s' % (condition, self.errors))
            time.sleep(0.02)

    def open(self, path, ready='true'):
        """Show a file."""
        self.call('Page.navigate', url='file://' + os.path.abspath(path))
        self.wait('location.protocol === "file:" &&'
                  ' document.readyState === "complete" && (%s)' % ready)

    def resize(self, width, height=800):
        """Give the window a size."""
        self.call('Emulation.setDeviceMetricsOverride', width=width,
                  height=height, deviceScaleFactor=1, mobile=False)

    def media(self, name='', **features):
        """Show it on screen or as printed, light or dark."""
        self.call('Emulation.setEmulatedMedia', media=name, features=[
            {'name': key.replace('_', '-'), 'value': value}
            for key, value in features.items()])

    def press(self, key):
        """Press a key: one that has a name, as Tab."""
        number = {'Tab': 9, 'Enter': 13, 'Home': 36, 'ArrowLeft': 37,
                  'ArrowUp': 38, 'ArrowRight': 39, 'ArrowDown': 40, ' ': 32}[key]
        text = {'text': {'Enter': '\r'}.get(key, key)} if key in ('Enter', ' ') else {}
        for kind in ('keyDown', 'keyUp'):
            self.call('Input.dispatchKeyEvent', type=kind, key=key, code=key,
                      windowsVirtualKeyCode=number, **text)
            text = {}

    def picture(self, path, whole=False):
        """Write what is to be seen as a PNG."""
        data = self.call('Page.captureScreenshot', format='png',
                         captureBeyondViewport=whole)['data']
        with open(path, 'wb') as stream:
            stream.write(base64.b64decode(data))
