import { connect } from 'node:net'
import t from 'tap'
import { inLongLane } from '../fixtures/full.ts'
import { dialogue } from '../fixtures/raw-socket.ts'
import { openTestService } from '../fixtures/workspace.ts'

/**
 * Requests byte by byte, as no client makes them. `HOST` stands for the right Host header, `OWN` for what it says, `BODY` for a case whose
 * title has 10 characters, in 22 bytes: hex 16.
 */
type Bytes = string

const POST = 'POST /cases HTTP/1.1\r\nHOST\r\nContent-Type: application/json\r\n'
const GET = 'GET /version HTTP/1.1\r\nHOST\r\n'
const LENGTH = 'Content-Length: 22\r\n'
const CHUNKED = 'Transfer-Encoding: chunked\r\n'
const CHUNKS = '16\r\nBODY\r\n0\r\n\r\n'

/** With a header too much. */
const posting = (headers: string): Bytes => `${POST}${headers}${LENGTH}\r\nBODY`
const measured = (length: string): Bytes => `${POST}Content-Length:${length}\r\n\r\nBODY`
const coded = (coding: string): Bytes => `${POST}Transfer-Encoding:${coding}\r\n\r\n${CHUNKS}`
const chunked = (chunks: string): Bytes => `${POST}${CHUNKED}\r\n${chunks}`
const getting = (line: string): Bytes => `${line}\r\nHOST\r\n\r\n`

/** Two readers could differ on where they end, or on what they say: none of them is carried out. */
const unclear: Record<string, Bytes> = {
  // two that say how long the body is
  'a length and chunks': `${POST}${LENGTH}${CHUNKED}\r\n${CHUNKS}`,
  'two lengths that differ': `${POST}${LENGTH}Content-Length: 1\r\n\r\nBODY`,
  'two lengths in one header': measured(' 22, 22'),
  'chunked twice': `${POST}${CHUNKED}${CHUNKED}\r\n${CHUNKS}`,
  // lengths
  'a length with a sign': measured(' +22'),
  'a length with a space in it': measured(' 2 2'),
  'no length in its header': measured(''),
  'a length beyond 64 bits': measured(' 18446744073709551638'),
  // transfer codings
  'chunked that is not last': coded(' chunked, identity'),
  'a coding that is like chunked': coded(' xchunked'),
  'another coding, of a GET': `${GET}Transfer-Encoding: gzip\r\n\r\nBODY`,
  // line ends
  'line ends without CR': posting('').replaceAll('\r\n', '\n'),
  'a header without CR': posting('X-A: 1\n'),
  'a CR alone between headers': posting('X-A: 1\rX-B: 2\r\n'),
  // headers
  'a folded header': posting('X-A: 1\r\n 2\r\n'),
  'a folded coding': coded('\r\n chunked'),
  'a space before the first header': POST.replace('HOST', ' HOST').concat(LENGTH, '\r\nBODY'),
  'a space before the colon': posting('X-A : 1\r\n'),
  'a header without a colon': posting('X-A\r\n'),
  'NUL in a value': posting('X-A: 1\x002\r\n'),
  'a byte beyond ASCII in a name': posting('X-\xe9: 1\r\n'),
  // chunks
  'a size with 0x': chunked('0x16\r\nBODY\r\n0\r\n\r\n'),
  'no size': chunked('\r\nBODY\r\n0\r\n\r\n'),
  'a size beyond 64 bits': chunked('10000000000000016\r\nBODY\r\n0\r\n\r\n'),
  'a size that is too small': chunked('15\r\nBODY\r\n0\r\n\r\n'),
  'a chunk without CR': chunked('16\r\nBODY\n0\r\n\r\n'),
  'a CR alone in an extension': chunked('16;a=1\rb\r\nBODY\r\n0\r\n\r\n'),
  'extensions of 20 KB': chunked(`16;${'a'.repeat(20_000)}\r\nBODY\r\n0\r\n\r\n`),
  'a length behind the chunks': chunked('16\r\nBODY\r\n0\r\nContent-Length: 5\r\n\r\n'),
  // request lines
  'a target without a slash': getting('GET version HTTP/1.1'),
  'a byte beyond ASCII in the target': getting('GET /\xff HTTP/1.1'),
  'a space in the target': getting('GET /ver sion HTTP/1.1'),
  'a method of 30 KB': getting(`${'A'.repeat(30_000)} /version HTTP/1.1`),
  // other protocols
  'HTTP/1.2': getting('GET /version HTTP/1.2'),
  'the first bytes of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
  'the first bytes of TLS': `\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03${'\0'.repeat(200)}`,
  // nobody knows for whom
  'no Host': 'GET /version HTTP/1.1\r\n\r\n',
}

/** Those that a limit ends. */
const tooLarge: Record<string, Bytes> = {
  'a target of 70 KB': getting(`GET /${'a'.repeat(70_000)} HTTP/1.1`),
  'a header of 20 KB': posting(`X-A: ${'a'.repeat(20_000)}\r\n`),
  'a header of 8 MB': posting(`X-A: ${'a'.repeat(8_000_000)}\r\n`),
  '10,000 headers': posting('X-A: 1\r\n'.repeat(10_000)),
  'a header of 20 KB behind the chunks': chunked(
    `16\r\nBODY\r\n0\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`,
  ),
}

/** Odd, but everyone reads them the same way: they are answered, and what follows is a request of its own. */
const clear: Record<string, [status: number, bytes: Bytes]> = {
  'a request as it should be': [201, posting('')],
  'chunks as they should be': [201, chunked(CHUNKS)],
  'extensions of chunks': [201, chunked('16;a=1;b="c;\\"d"\r\nBODY\r\n0;e\r\n\r\n')],
  'a Host behind the chunks': [201, chunked('16\r\nBODY\r\n0\r\nHost: evil.example\r\n\r\n')],
  'empty lines before': [200, `${'\r\n'.repeat(1000)}${GET}\r\n`],
  'an expectation that is none': [201, posting('Expect: something\r\n')],
  'a HEAD with a body': [200, `${GET.replace('GET', 'HEAD')}${LENGTH}\r\nBODY`],
  'an absolute target': [200, getting('GET http://OWN/version HTTP/1.1')],
  'an absolute target, and another Host': [
    200,
    'GET http://OWN/version HTTP/1.1\r\nHost: evil.example\r\n\r\n',
  ],
  'an absolute target elsewhere': [403, getting('GET http://evil.example/version HTTP/1.1')],
  'a write to an absolute target': [201, posting('').replace('/cases', 'http://OWN/cases')],
  'a target with two slashes': [404, getting('GET //evil.example/cases HTTP/1.1')],
  'two Hosts': [403, posting('Host: evil.example\r\n')],
  'a second Host behind 3,000 headers': [403, posting(`${'a:\r\n'.repeat(3000)}HOST\r\n`)],
  'an Origin behind 3,000 headers': [403, posting(`${'a:\r\n'.repeat(3000)}Origin: null\r\n`)],
  'two Hosts in one header': [400, posting('').replace('HOST', 'HOST, evil.example')],
  'the same with a long body': [
    403,
    `${POST}Origin: null\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`,
  ],
  'a body of another type': [415, posting('').replace('application/json', 'text/plain')],
  'a body that is compressed': [415, posting('Content-Encoding: gzip\r\n')],
  'a body that is compressed in part': [
    415,
    posting('Content-Encoding: identity\r\nContent-Encoding: x-gzip\r\n'),
  ],
  'no compression, by its name': [201, posting('Content-Encoding: Identity\r\n')],
  'another coding than chunks': [501, coded(' gzip, chunked')],
  'another coding than chunks, in two headers': [
    501,
    `${POST}Transfer-Encoding: deflate\r\n${CHUNKED}\r\n${CHUNKS}`,
  ],
  'another method': [405, posting('').replace('POST', 'PATCH')],
}

/** The last of their connection: what comes behind them is nobody's request. */
const last: Record<string, [statuses: number[], bytes: Bytes]> = {
  'a request that closes': [[201], posting('Connection: close\r\n')],
  'a request that closes, among others': [[201], posting('Connection: keep-alive, close\r\n')],
  'one by HTTP/1.0': [[201], posting('').replace('HTTP/1.1', 'HTTP/1.0')],
  'chunks by HTTP/1.0': [[201], coded(' chunked').replace('HTTP/1.1', 'HTTP/1.0')],
  'one by HTTP/2.0, as text': [[201], posting('').replace('HTTP/1.1', 'HTTP/2.0')],
  CONNECT: [[], getting('CONNECT 127.0.0.1:80 HTTP/1.1')],
}

const app = await openTestService(t)
const port = Number(new URL(app.url).port)
let number = 100_000

/** Sends the bytes, and in the same breath a second request; gives what came, and which of the two was carried out. */
async function send(bytes: Bytes, behind = SECOND) {
  const [first, second] = [`${++number} one`, `${number} two`]
  const text = `${bytes}${behind.replace('BODY', bodyOf(second))}`
  const said = await dialogue(
    port,
    text
      .replace('BODY', bodyOf(first))
      .replaceAll('HOST', `Host: 127.0.0.1:${port}`)
      .replaceAll('OWN', `127.0.0.1:${port}`),
  )
  /** How often each of them became a case. */
  async function made(): Promise<number[]> {
    const { json } = await app.request('GET', `/cases?q=${number}`)
    const titles = json.map(({ title }: { title: string }) => title)
    return [first, second].map((each) => titles.filter((title: string) => title === each).length)
  }
  return { ...said, made }
}

const bodyOf = (title: string) => JSON.stringify({ title })
const SECOND = `${POST}${LENGTH}Connection: close\r\n\r\nBODY`

t.test(
  'a request that two readers could understand in two ways is 400, and the last',
  async (t) => {
    const all = await Promise.all(
      Object.entries(unclear).map(async ([name, bytes]) => [name, await send(bytes)] as const),
    )
    for (const [name, said] of all) {
      t.strictSame(said.statuses, [400], `${name}: one answer, then it is closed`)
      t.match(said.text, /\r\nconnection: close\r\n/i, name)
    }
    t.strictSame((await app.request('GET', '/cases')).json, [], 'none was carried out')
    t.equal(app.service.eventLog.last, 0)
    t.strictSame(app.log, [])
  },
)

const unknownMethods: Record<string, Bytes> = {
  'a method that is none': getting('PATHC /version HTTP/1.1'),
  'a method in lower case': getting('get /version HTTP/1.1'),
}

t.test('a body that breaks off changes nothing', async (t) => {
  const { id } = await app.newCase({ title: 'As it was' })
  const { host, hostname, port } = new URL(app.url)
  const head = `PUT /cases/${id} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n`
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.end(`${head}Content-Length: 40\r\n\r\n{"title":"Half"}`)
    })
    socket
      .resume()
      .on('error', () => {})
      .on('close', () => resolve())
  })
  t.equal((await app.request('GET', `/cases/${id}`)).json.title, 'As it was')
})

t.test('an unknown method is 501, and the last', async (t) => {
  for (const [name, bytes] of Object.entries(unknownMethods)) {
    const said = await send(bytes)
    t.strictSame(said.statuses, [501], name)
    t.match(said.text, /\r\nconnection: close\r\n/i, name)
  }
})

t.test('what is too large is 431, and the last', async (t) => {
  const before = app.service.eventLog.last
  for (const [name, bytes] of Object.entries(tooLarge)) {
    const { statuses, isReset } = await send(bytes)
    t.strictSame([statuses, isReset], [[431], false], name)
  }
  t.equal(app.service.eventLog.last, before, 'none was carried out')
})

t.test(
  'what is odd but clear is answered, and what follows is a request of its own',
  inLongLane,
  async (t) => {
    let made = app.service.eventLog.last
    for (const [name, [status, bytes]] of Object.entries(clear)) {
      const said = await send(bytes)
      t.strictSame(said.statuses, [status, 201], name)
      const isMade = status === 201 ? 1 : 0
      t.strictSame(
        await said.made(),
        [isMade, 1],
        `${name}: each is carried out once, or not at all`,
      )
      made += isMade + 1
    }
    t.equal(app.service.eventLog.last, made, 'and each has its event')
  },
)

t.test('behind the last request of a connection nothing is carried out', async (t) => {
  for (const [name, [statuses, bytes]] of Object.entries(last)) {
    const said = await send(bytes)
    t.strictSame(said.statuses, statuses, name)
    t.strictSame(await said.made(), [statuses.length, 0], name)
  }
  t.match(await app.request('GET', '/health'), { status: 200 })
})

t.test('what was carried out says so, whatever comes behind it', async (t) => {
  for (const behind of ['hello\r\n\r\n', `${POST}${LENGTH}${CHUNKED}\r\n${CHUNKS}`]) {
    const said = await send(posting(''), behind)
    t.strictSame(said.statuses, [201])
    t.match(said.text, /\r\nconnection: close\r\n/i)
    t.strictSame(await said.made(), [1, 0])
  }
})

t.test('another protocol is declined, and the request carried out', async (t) => {
  const offers = {
    h2c: 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n',
    websocket:
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n',
  }
  for (const [name, headers] of Object.entries(offers)) {
    const said = await send(posting(`${headers}Connection: close\r\n`), '')
    t.strictSame(said.statuses, [201], name)
    t.strictSame(await said.made(), [1, 0])
  }
})

t.test('a client that waits for 100 gets it, and one answer', async (t) => {
  const said = await send(posting('Expect: 100-continue\r\n'))
  t.strictSame(said.statuses, [100, 201, 201])
  t.strictSame(await said.made(), [1, 1])
})
