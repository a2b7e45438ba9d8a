import { Hono } from 'hono'
import t from 'tap'
import type { ServiceEnv } from '../../src/http/context.ts'
import { errorHandler } from '../../src/http/middleware/error-format.ts'
import { originCheck } from '../../src/http/middleware/origin-check.ts'
import { requestListener } from '../../src/http/request-listener.ts'
import { listen } from '../../src/http/server.ts'
import { dialogue } from '../fixtures/raw-socket.ts'

const log = (line: string) => t.fail(line)

let reached = 0
let port = 0
const app = new Hono<ServiceEnv>()
app.use(originCheck(() => port))
app.onError(errorHandler(() => {}))
app.all('/x', (c) => c.json({ reached: ++reached }))
app.get('/broken', () => {
  throw new Error('/home/someone/secret')
})

const server = await listen(requestListener(app.fetch, log), { port: 0, log })
port = server.port
t.teardown(() => server.close())

/** Sends the lines as they are and gives the whole answer. `PORT` stands for the port. */
async function raw(...lines: string[]): Promise<string> {
  const text = `${lines.join('\r\n')}\r\n\r\n`.replaceAll('PORT', String(port))
  return (await dialogue(port, text)).text
}

const PROTECTED =
  /^(?=.*\nx-content-type-options: nosniff)(?=.*\ncross-origin-resource-policy: same-origin)/is
const status = (answer: string) => Number(answer.split(' ')[1])
const GET = 'GET /x HTTP/1.1'
const OWN = 'Host: localhost:PORT'
const END = 'Connection: close'

const allowed: Record<string, string[]> = {
  'the name localhost': [GET, OWN],
  'the name in capitals': [GET, 'Host: LOCALHOST:PORT'],
  'the IPv4 address': [GET, 'Host: 127.0.0.1:PORT'],
  'the IPv6 address': [GET, 'Host: [::1]:PORT'],
  'a forwarded port': [GET, 'Host: localhost:9000'],
  'a forwarded port of an address': [
    GET,
    'Host: 127.0.0.1:65535',
    'Origin: http://127.0.0.1:65535',
  ],
  'a forwarded port of IPv6': [GET, 'Host: [::1]:1', 'Origin: http://[::1]:1'],
  'a page behind a forwarded port': [
    GET,
    'Host: localhost:9000',
    'Origin: http://localhost:9000',
    'Sec-Fetch-Site: same-origin',
  ],
  'an absolute target by a forwarded port': ['GET http://localhost:1/x HTTP/1.1', OWN],
  'no port, which is 80': [GET, 'Host: localhost', 'Origin: http://localhost:80'],
  'its own Origin': [GET, OWN, 'Origin: http://localhost:PORT'],
  'a page of its own': [GET, OWN, 'Sec-Fetch-Site: same-origin'],
  'an address that someone typed in': [GET, OWN, 'Sec-Fetch-Site: none'],
}

t.test('lets in what names this service', async (t) => {
  for (const [name, lines] of Object.entries(allowed)) {
    await t.test(name, async (t) => {
      const answer = await raw(...lines, END)
      t.equal(status(answer), 200)
      t.match(answer, PROTECTED)
      t.match(answer, /cache-control: no-cache/i)
    })
  }
})

const refused: Record<string, string[]> = {
  'another name': [GET, 'Host: evil.com'],
  'another name with our port': [GET, 'Host: evil.com:PORT'],
  'our name as a subdomain': [GET, 'Host: localhost.evil.com:PORT'],
  'our name as a domain': [GET, 'Host: evil.localhost:PORT'],
  'a name that resolves to loopback': [GET, 'Host: 127.0.0.1.nip.io:PORT'],
  'a trailing dot': [GET, 'Host: localhost.:PORT'],
  'another name with a forwarded port': [GET, 'Host: devbox:9000'],
  'the address of another machine': [GET, 'Host: 192.168.0.2:PORT'],
  'a port with a leading zero': [GET, 'Host: localhost:0PORT'],
  'two Hosts': [GET, OWN, 'Host: evil.com'],
  'two equal Hosts': [GET, OWN, OWN],
  'another spelling of loopback': [GET, 'Host: 127.1:PORT'],
  'an absolute target': ['GET http://evil.com/x HTTP/1.1', OWN],
  'an absolute target by https': ['GET https://localhost:PORT/x HTTP/1.1', OWN],
  'an Origin that is the Host, of an absolute target': [
    'GET http://127.0.0.1:PORT/x HTTP/1.1',
    OWN,
    'Origin: http://localhost:PORT',
  ],
  'another Origin': [GET, OWN, 'Origin: http://evil.com'],
  'the Origin null': [GET, OWN, 'Origin: null'],
  'an Origin by another loopback name': [GET, OWN, 'Origin: http://127.0.0.1:PORT'],
  'an Origin on another port': [GET, OWN, 'Origin: http://localhost:1'],
  'our Origin behind a forwarded port': [
    GET,
    'Host: localhost:9000',
    'Origin: http://localhost:PORT',
  ],
  'an Origin on the forwarded port of another name': [
    GET,
    'Host: localhost:9000',
    'Origin: http://127.0.0.1:9000',
  ],
  'an Origin by https': [GET, OWN, 'Origin: https://localhost:PORT'],
  'an Origin equal to a foreign Host': [GET, 'Host: evil:PORT', 'Origin: http://evil:PORT'],
  'two Origins': [GET, OWN, 'Origin: http://localhost:PORT', 'Origin: http://evil.com'],
  'a page of another site': [GET, OWN, 'Sec-Fetch-Site: cross-site'],
  'a page on another port': [GET, OWN, 'Sec-Fetch-Site: same-site'],
  'a preflight': [
    'OPTIONS /x HTTP/1.1',
    OWN,
    'Origin: http://evil.com',
    'Access-Control-Request-Method: PUT',
  ],
}

t.test('refuses, before any route, what may come from a web page', async (t) => {
  const before = reached
  for (const [name, lines] of Object.entries(refused)) {
    await t.test(name, async (t) => {
      const answer = await raw(...lines, END)
      t.equal(status(answer), 403)
      t.match(answer, /content-type: application\/problem\+json/i)
      t.match(answer, PROTECTED)
      t.notMatch(answer, /access-control/i)
      t.match(JSON.parse(answer.split('\r\n\r\n')[1]!), { code: 'forbidden', detail: /\. \w/ })
    })
  }
  t.equal(reached, before)
})

const objections: [string, string[], RegExp][] = [
  ['two Hosts', refused['two Hosts']!, /has 2 Host headers\. Send exactly one/],
  ['an absolute target', refused['an absolute target']!, /Host "evil\.com" is not this service/],
  ['another name', refused['another name']!, /Host "evil\.com" is not this service/],
  ['the Origin null', refused['the Origin null']!, /Origin "null" is not this service/],
  ['another site', refused['a page of another site']!, /Sec-Fetch-Site "cross-site"/],
]

t.test('says what it objects to', async (t) => {
  for (const [name, lines, detail] of objections) {
    const body = (await raw(...lines, END)).split('\r\n\r\n')[1]!
    t.match(JSON.parse(body), { detail }, name)
  }
})

const malformed: Record<string, string[]> = {
  'no Host': [GET],
  'no Host, HTTP/1.0': ['GET /x HTTP/1.0'],
  'a port that is too large': [GET, 'Host: localhost:65536'],
  'an empty port': [GET, 'Host: localhost:'],
  'a port that is no number': [GET, 'Host: localhost:9000x'],
  'an empty Host': [GET, 'Host:'],
  'a user in the Host': [GET, 'Host: user@localhost:PORT'],
  'a backslash in the path': ['GET /x\\y HTTP/1.1', OWN],
  'a target without a slash': ['GET x HTTP/1.1', OWN],
  'an asterisk': ['OPTIONS * HTTP/1.1', OWN],
}

t.test('answers 400 where the Host or the target is none', async (t) => {
  const before = reached
  for (const [name, lines] of Object.entries(malformed)) {
    const answer = await raw(...lines, END)
    t.equal(status(answer), 400, name)
    // without Host, node itself answers, without a body
    if (!answer.endsWith('\r\n\r\n')) t.match(answer, PROTECTED, name)
  }
  t.equal(reached, before)
})

t.test('an unknown error tells nothing, and carries the headers too', async (t) => {
  const answer = await raw('GET /broken HTTP/1.1', OWN, END)
  t.equal(status(answer), 500)
  t.notMatch(answer, /someone|secret/)
  t.match(answer, PROTECTED)
})

t.test('without the node server only the headers are judged', async (t) => {
  const ask = async (headers: Record<string, string>) =>
    (await app.request('/x', { headers })).status
  t.equal(await ask({}), 200)
  t.equal(await ask({ host: `localhost:${port}` }), 200)
  t.equal(await ask({ host: 'evil.com' }), 403)
  t.equal(await ask({ origin: 'null' }), 403)
  t.equal(await ask({ 'sec-fetch-site': 'cross-site' }), 403)
})
