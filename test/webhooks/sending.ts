import { execFileSync } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { EventEmitter, getEventListeners, once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { newSecret, signedHeaders } from '../../src/webhooks/message.ts'
import { createSender, type Post, type SenderOptions } from '../../src/webhooks/sender.ts'
import { checkTarget, type Lookup, parseTarget } from '../../src/webhooks/targets.ts'
import { type Behaviour, drip, openReceiver, raw } from '../fixtures/receiver.ts'

const linuxOnly = process.platform === 'linux' ? {} : { skip: '0.0.0.0 leads home on Linux' }

/** What nobody has handled, and what node warns of, anywhere below. */
const warnings: string[] = []
process.on('warning', ({ name, message }) => warnings.push(`${name}: ${message}`))

/** Tells `came` whenever node, as a client, has the headers of an answer. */
const HEADERS = new EventEmitter()
subscribe('http.client.response.finish', () => void HEADERS.emit('came'))

/** The connections that node made, as a client. */
const SOCKETS: Socket[] = []
subscribe('net.client.socket', (message) => {
  SOCKETS.push((message as { socket: Socket }).socket)
})

function openSender(t: Test, options: Partial<SenderOptions> = {}) {
  const sender = createSender({
    ownPort: () => null,
    version: '1.2.3',
    timeoutMs: 20_000,
    ...options,
  })
  t.teardown(sender.close)
  return sender
}

function post(url: string, more: Partial<Post> = {}): Post {
  const { signal } = new AbortController()
  return { url, headers: {}, body: Buffer.from('{"a":1}'), signal, ...more }
}

/** A resolver that knows one answer after the other, and counts how often it was asked. */
function resolver(...answers: string[][]): Lookup & { asked: number } {
  const lookup = async (name: string) => {
    const addresses = answers[Math.min(lookup.asked++, answers.length - 1)] ?? []
    if (addresses.length === 0) throw Object.assign(new Error(name), { code: 'ENOTFOUND' })
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  lookup.asked = 0
  return lookup
}

t.test('one request', async (t) => {
  t.test('brings the bytes and the headers', async (t) => {
    const [receiver, sender] = [await openReceiver(t), openSender(t)]
    const body = Buffer.from('{"title":"…\\u0000ä"}')
    const signing = { id: 'evt_1_ab', type: 'case_updated', secrets: [newSecret()] }
    const headers = signedHeaders({ ...signing, body, at: Date.now() })
    const attempt = await sender.send(post(`${receiver.url}?a=b`, { headers, body }))
    t.match(attempt, { status: 200, error: null, retry_after_ms: null, at: /^\d{4}-.*Z$/ })
    t.ok(Number.isInteger(attempt.ms))
    const request = await receiver.next()
    t.match(request, { method: 'POST', path: '/hook?a=b' })
    t.ok(request.body.equals(body))
    t.same(request.headers, {
      ...Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
      ),
      'content-type': 'application/json',
      'content-length': String(body.length),
      'user-agent': 'Casefile/1.2.3',
      host: `127.0.0.1:${receiver.port}`,
      connection: 'keep-alive',
    })
  })

  t.test('any 2xx is a success', async (t) => {
    const [receiver, sender] = [await openReceiver(t), openSender(t)]
    for (const status of [200, 201, 202, 204, 206, 299]) {
      receiver.script(status)
      t.match(await sender.send(post(receiver.url)), { status, error: null })
    }
  })

  t.test('any other answer is a failure that says what came', async (t) => {
    const [receiver, sender] = [await openReceiver(t), openSender(t)]
    const says =
      (status: number, body: string | Buffer, headers = {}): Behaviour =>
      (response) =>
        response.writeHead(status, headers).end(body)
    const cases: [Behaviour, string][] = [
      [404, 'answered 404'],
      [410, 'answered 410'],
      [says(500, 'no disk'), 'answered 500: no disk'],
      [says(500, '\u001b[31mred\u0000\r\n\u202e  two'), 'answered 500: [31mred two'],
      [
        says(422, '{"error":"ä"}', { 'content-type': 'application/json' }),
        'answered 422: {"error":"ä"}',
      ],
      [says(502, Buffer.alloc(99, 7), { 'content-type': 'image/png' }), 'answered 502'],
      [says(500, 'x', { 'content-encoding': 'br' }), 'answered 500'],
      [says(500, '\u{1f511}'.repeat(5000)), `answered 500: ${'\u{1f511}'.repeat(200)}`],
    ]
    for (const [behaviour, error] of cases) {
      receiver.script(behaviour)
      const attempt = await sender.send(post(receiver.url))
      t.equal(attempt.error, error)
      t.equal(attempt.status, Number(error.slice(9, 12)))
    }
  })

  t.test('Retry-After, in seconds or as a date', async (t) => {
    const [receiver, sender] = [await openReceiver(t), openSender(t)]
    const after = async (status: number, value: string) => {
      receiver.script((response) => response.writeHead(status, { 'retry-after': value }).end())
      return (await sender.send(post(receiver.url))).retry_after_ms
    }
    for (const status of [302, 429, 500, 503]) t.equal(await after(status, '120'), 120_000)
    t.equal(await after(200, '120'), null, 'of a success')
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString()
    const waits = (await after(503, inAnHour)) ?? 0
    t.ok(waits > 3_500_000 && waits <= 3_600_000, `${waits} ms`)
    t.equal(await after(503, 'Fri, 31 Dec 1999 23:59:59 GMT'), 0)
    t.equal(await after(503, '9'.repeat(400)), Number.MAX_SAFE_INTEGER)
    for (const value of ['', '-1', '1.5', 'soon', 'in 5 minutes', '2027']) {
      t.equal(await after(503, value), value === '2027' ? 2_027_000 : null, value)
    }
  })

  t.test('a redirect is a failure, and is not followed', async (t) => {
    const [receiver, second, sender] = [await openReceiver(t), await openReceiver(t), openSender(t)]
    const redirect =
      (status: number, location: string): Behaviour =>
      (response) =>
        response.writeHead(status, { location }).end()
    for (const status of [301, 302, 303, 307, 308]) {
      receiver.script(redirect(status, `${second.url}?secret=1`))
      const error = `answered ${status}, a redirect to http://127.0.0.1:${second.port}; redirects are not followed`
      t.match(await sender.send(post(receiver.url)), { status, error })
    }
    const others: [string, string][] = [
      ['/elsewhere', ` to http://127.0.0.1:${receiver.port}`],
      ['data:text/plain,hi', ' to data:'],
      ['http://[', ''],
    ]
    for (const [location, where] of others) {
      receiver.script(redirect(307, location))
      const error = `answered 307, a redirect${where}; redirects are not followed`
      t.match(await sender.send(post(receiver.url)), { error }, location)
    }
    receiver.script(304)
    t.match(await sender.send(post(receiver.url)), { error: /^answered 304, a redirect; / })
    t.equal(receiver.received.length, 9)
    t.equal(second.connections, 0)
  })
})

t.test('a receiver that takes its time', async (t) => {
  t.test('no headers: the attempt ends when the time is up', async (t) => {
    const [receiver, sender] = [await openReceiver(t), openSender(t, { timeoutMs: 300 })]
    const slow: [string, Behaviour][] = [
      ['nothing', () => {}],
      ['headers by drips', drip('HTTP/1.1 200 OK\r\nx-slow: ', 20)],
      ['interim answers by drips', raw('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(3))],
    ]
    for (const [what, behaviour] of slow) {
      receiver.script(behaviour)
      const error = 'no answer within 0.3 s'
      const attempt = await sender.send(post(receiver.url))
      t.match(attempt, { status: null, error, retry_after_ms: null, ms: Number }, what)
      await receiver.quiet()
    }
    const lookup = () => new Promise<never>(() => {})
    const unknown = openSender(t, { timeoutMs: 50, lookup }).send(post('http://slow.example/'))
    t.match(await unknown, { status: null, error: 'no answer within 0.05 s' }, 'a name too')
  })

  t.test('without another limit it ends after 15 s', async (t) => {
    const receiver = await openReceiver(t, { otherwise: () => {} })
    const { setTimeout: real } = globalThis
    const waits: unknown[] = []
    globalThis.setTimeout = ((call: () => void, ms: number) => {
      waits.push(ms)
      return real(call, ms / 100)
    }) as typeof real
    t.teardown(() => {
      globalThis.setTimeout = real
    })
    const sender = createSender({ ownPort: () => null, version: '1.2.3' })
    const attempt = await sender.send(post(receiver.url))
    t.match(attempt, { status: null, error: 'no answer within 15 s' })
    t.ok(waits.includes(15_000))
    await receiver.quiet()
  })

  t.test('a body by drips: the headers decide, and the connection ends soon', async (t) => {
    const [receiver, sender] = [await openReceiver(t), openSender(t, { timeoutMs: 60_000 })]
    const cases = [[200, null] as const, [500, /^answered 500/] as const]
    for (const [status] of cases)
      receiver.script(drip(`HTTP/1.1 ${status} X\r\ncontent-length: 99999\r\n\r\n`, 20))
    const sends = [sender.send(post(receiver.url)), sender.send(post(receiver.url))]
    const came = (await Promise.all(sends)).sort((a, b) => a.status! - b.status!)
    for (const [at, [status, error]] of cases.entries()) t.match(came[at], { status, error })
    await receiver.quiet()
  })

  t.test('a body of 100 MB is not read', async (t) => {
    const [receiver, sender] = [await openReceiver(t), openSender(t)]
    const chunk = Buffer.alloc(256 * 1024, 'a')
    let left = 0
    receiver.script((response) => {
      response.writeHead(500, { 'content-length': 400 * chunk.length })
      const more = () => {
        while (!response.destroyed && left < 400) {
          left += 1
          if (!response.write(chunk)) return void response.once('drain', more)
        }
      }
      more()
    })
    SOCKETS.length = 0
    t.match(await sender.send(post(receiver.url)), { status: 500 })
    await receiver.quiet()
    t.ok(left < 200, `${left} of 400 parts left the receiver`)
    const read = SOCKETS.map(({ bytesRead }) => bytesRead)
    t.equal(read.length, 1)
    t.ok(read[0]! <= 2 * 64 * 1024 + 1024, `read ${read}: 64 KiB, and what one call brings`)
  })
})

t.test('what is no answer is a failure, and leaves nothing open', async (t) => {
  const [receiver, sender] = [await openReceiver(t), openSender(t, { timeoutMs: 2000 })]
  const CLOSED = 'the connection was closed before an answer came'
  const cases: [string, Behaviour, number | null, string | RegExp | null][] = [
    ['closed at once', ({ socket }) => socket?.destroy(), null, CLOSED],
    ['reset', ({ socket }) => socket?.resetAndDestroy(), null, CLOSED],
    [
      'half of the headers',
      raw('HTTP/1.1 200 OK\r\nx: 1', 'end'),
      null,
      /closed before|not valid HTTP/,
    ],
    ['half, then reset', raw('HTTP/1.1 200 OK\r\nx: 1', 'reset'), null, CLOSED],
    ['garbage', raw('no HTTP at all\r\n\r\n'), null, /^the answer is not valid HTTP \(HPE_\w+\)$/],
    ['binary garbage', raw('\u0000\u0001\u0016\u0003'.repeat(500)), null, /not valid HTTP/],
    ['a request', raw('GET / HTTP/1.1\r\nhost: x\r\n\r\n'), null, /not valid HTTP/],
    ['HTTP/2', raw('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), null, /not valid HTTP/],
    ['a bad status', raw('HTTP/1.1 99 X\r\n\r\n'), null, /not valid HTTP/],
    [
      'two lengths',
      raw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n'),
      null,
      /not valid HTTP/,
    ],
    [
      'huge headers',
      raw(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(1e6)}\r\n\r\n`),
      null,
      'the headers of the answer are too large',
    ],
    [
      '1xx without end',
      raw('HTTP/1.1 100 Continue\r\n\r\n'.repeat(5000)),
      null,
      'too many interim answers (1xx)',
    ],
    [
      '1xx, then the answer',
      raw('HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
      200,
      null,
    ],
    [
      '101',
      raw('HTTP/1.1 101 X\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\nhello'),
      101,
      /^answered 101$/,
    ],
    ['101 without more', raw('HTTP/1.1 101 X\r\n\r\n'), 101, /^answered 101$/],
    ['status 999', raw('HTTP/1.1 999 X\r\ncontent-length: 0\r\n\r\n'), 999, /^answered 999$/],
    ['a body cut short', raw('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab', 'reset'), 200, null],
    [
      'a body that is no chunk',
      raw('HTTP/1.1 500 X\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'),
      500,
      'answered 500',
    ],
    [
      'two answers',
      raw(
        'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1 500 X\r\ncontent-length: 0\r\n\r\n',
      ),
      200,
      null,
    ],
    [
      'two answers, one failure',
      raw('HTTP/1.1 500 X\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'),
      500,
      'answered 500',
    ],
  ]
  for (const [what, behaviour, status, error] of cases) {
    receiver.script(behaviour)
    const { received } = receiver
    const before = received.length
    const attempt = await sender.send(post(receiver.url))
    t.equal(attempt.status, status, what)
    if (error instanceof RegExp) t.match(attempt.error, error, what)
    else t.equal(attempt.error, error, what)
    t.equal(received.length, before + 1, `${what}: sent once`)
    sender.close()
    await receiver.quiet()
  }
  t.match(await sender.send(post(receiver.url)), { status: 200 }, 'and goes on')
})

t.test('an answer before the request was read to its end', async (t) => {
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.pause()
      socket.write('HTTP/1.1 413 X\r\ncontent-length: 0\r\n\r\n')
    })
    socket.on('error', () => {}) // what was not read is lost with the connection
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const body = Buffer.alloc(10_000_000)
  const attempt = await openSender(t).send(post(`http://127.0.0.1:${port}/`, { body }))
  t.match(attempt, { status: 413, error: 'answered 413' })
})

t.test('failures before anything is sent', async (t) => {
  const receiver = await openReceiver(t)
  const { port } = receiver
  const sender = (options: Partial<SenderOptions> = {}) => openSender(t, options)

  t.test('words for what the network says', async (t) => {
    const gone = await openReceiver(t)
    await gone.close()
    t.match(await sender().send(post(gone.url)), { status: null, error: 'connection refused' })
    const two = sender({ lookup: resolver(['::1', '127.0.0.1']) })
    const url = `http://two.example:${gone.port}/`
    t.match(await two.send(post(url)), { error: 'connection refused' })
    const empty = sender({ lookup: async () => [] })
    t.match(await empty.send(post('http://none.example/')), { error: 'name not found' })
    const none = sender({ lookup: resolver([]) })
    t.match(await none.send(post('http://none.example/')), { error: 'name not found' })
    const later: Lookup = () => Promise.reject(Object.assign(new Error(), { code: 'EAI_AGAIN' }))
    const again = sender({ lookup: later }).send(post('http://later.example/'))
    t.match(await again, { error: 'the DNS lookup failed for now' })
    const odd: Lookup = () => Promise.reject(Object.assign(new Error('/secret'), { code: 'EODD' }))
    const failed = sender({ lookup: odd }).send(post('http://odd.example/'))
    t.match(await failed, { error: 'the request failed (EODD)' })
  })

  t.test('headers that cannot be sent', async (t) => {
    for (const headers of [{ 'x-a': 'a\nb' }, { 'x a': 'b' }, { 'x-a': 'ф' }]) {
      const attempt = await sender().send(post(receiver.url, { headers }))
      t.match(attempt, { status: null, error: 'a header cannot be sent' })
    }
  })

  t.test('a URL that should not have been kept', async (t) => {
    for (const url of ['nonsense', 'ftp://a/', 'http://a:6667/']) {
      t.match(await sender().send(post(url)), { status: null, error: /^url: expected / }, url)
    }
  })

  t.test('an address that is denied', async (t) => {
    const own = sender({ ownPort: () => port, lookup: resolver(['127.0.0.1']) })
    const zero = sender({ lookup: resolver(['0.0.0.0']) })
    const mixed = sender({ lookup: resolver(['127.0.0.1', '0.0.0.0']) })
    const cases = [
      [own, receiver.url, /this service itself/],
      [own, `http://own.example:${port}/`, /this service itself/],
      [zero, `http://zero.example:${port}/`, /unspecified/],
      [mixed, `http://mixed.example:${port}/`, /unspecified/],
      [zero, `http://0.0.0.0:${port}/`, /unspecified/],
      [zero, `http://[::ffff:169.254.169.254]:${port}/`, /link-local/],
    ] as const
    for (const [each, url, error] of cases) {
      t.match(await each.send(post(url)), { status: null, error, retry_after_ms: null }, url)
    }
  })

  t.equal(receiver.connections, 0)
})

t.test('a name that leads elsewhere after the check', linuxOnly, async (t) => {
  const receiver = await openReceiver(t)
  const url = `http://changing.example:${receiver.port}/`

  t.test('connections go to the address that was checked', async (t) => {
    for (let count = 1; count <= 2; count++) {
      const lookup = resolver(['127.0.0.1'], ['0.0.0.0'])
      const sender = openSender(t, { lookup })
      t.match(await sender.send(post(url)), { status: 200, error: null })
      t.equal(lookup.asked, 1, 'the name is looked up once')
      sender.close()
    }
    t.equal(receiver.connections, 2)
  })

  t.test('each new connection is checked', async (t) => {
    const lookup = resolver(['127.0.0.1'], ['0.0.0.0'])
    await checkTarget(parseTarget(url), { ownPort: 7878, lookup })
    t.match(await openSender(t, { lookup }).send(post(url)), { status: null, error: /unspecified/ })
    t.equal(receiver.connections, 2)
  })
})

t.test('connections are kept', async (t) => {
  t.test('for successive requests, after any answer', async (t) => {
    const [receiver, sender] = [await openReceiver(t), openSender(t)]
    receiver.script(200, 500, (response) => response.end('a'.repeat(20_000)), 302)
    for (let count = 1; count <= 6; count++) await sender.send(post(receiver.url))
    t.equal(new Set(receiver.received.map(({ remotePort }) => remotePort)).size, 1)
    sender.close()
    await receiver.quiet()
  })

  t.test('one that was closed meanwhile is replaced, and nobody notices', async (t) => {
    for (const end of ['destroy', 'resetAndDestroy'] as const) {
      const [receiver, sender] = [await openReceiver(t), openSender(t)]
      receiver.script(200, ({ socket }) => socket?.[end]())
      await sender.send(post(receiver.url))
      t.match(await sender.send(post(receiver.url)), { status: 200, error: null })
      const [first, stale, fresh] = await receiver.until(3)
      t.equal(first?.remotePort, stale?.remotePort)
      t.not(stale?.remotePort, fresh?.remotePort)
      t.ok(stale && fresh?.body.equals(stale.body))
    }
  })

  t.test('also when all that were kept are closed', async (t) => {
    const [receiver, sender] = [await openReceiver(t), openSender(t)]
    await Promise.all([sender.send(post(receiver.url)), sender.send(post(receiver.url))])
    const old = (await receiver.until(2)).map(({ remotePort }) => remotePort)
    t.equal(new Set(old).size, 2)
    receiver.otherwise((response, { remotePort }) => {
      if (old.includes(remotePort)) response.socket?.destroy()
      else response.end()
    })
    t.match(await sender.send(post(receiver.url)), { status: 200, error: null })
  })

  t.test('once only, and not when an answer had begun', async (t) => {
    const [receiver, sender] = [await openReceiver(t), openSender(t)]
    const cut: Behaviour = ({ socket }) => socket?.destroy()
    receiver.script(200, cut, cut, 200, raw('HTTP/1.1 200', 'reset'))
    await sender.send(post(receiver.url))
    t.match(await sender.send(post(receiver.url)), {
      status: null,
      error: /closed before an answer/,
    })
    t.equal(receiver.received.length, 3)
    await sender.send(post(receiver.url))
    t.match(await sender.send(post(receiver.url)), {
      status: null,
      error: /closed before an answer/,
    })
    t.equal(receiver.received.length, 5)
  })

  t.test('what comes unasked is no answer to the next request', async (t) => {
    const [receiver, sender] = [await openReceiver(t), openSender(t)]
    let unasked = () => {}
    receiver.script((response) => {
      const { socket } = response
      unasked = () => socket?.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      response.end()
    }, 500)
    await sender.send(post(receiver.url))
    unasked()
    const other = await openReceiver(t) // an exchange with another one: by then it has come
    await sender.send(post(other.url))
    t.match(await sender.send(post(receiver.url)), { status: 500 })
  })
})

t.test('an aborted request', async (t) => {
  t.test('rejects with the reason, and leaves nothing open', async (t) => {
    const [receiver, sender] = [await openReceiver(t, { otherwise: () => {} }), openSender(t)]
    const stop = new AbortController()
    const reason = new Error('the service is stopping')
    const sends = Array.from({ length: 30 }, () =>
      sender.send(post(receiver.url, { signal: stop.signal })),
    )
    await receiver.until(30)
    stop.abort(reason)
    for (const result of await Promise.allSettled(sends)) {
      t.equal(result.status === 'rejected' && result.reason, reason)
    }
    await receiver.quiet()
    t.same(getEventListeners(stop.signal, 'abort'), [])
    await t.rejects(sender.send(post(receiver.url, { signal: stop.signal })), reason)
    t.equal(receiver.received.length, 30)
  })

  t.test('also while the name is looked up, and with a reason that is no error', async (t) => {
    const stop = new AbortController()
    const lookup = () => {
      stop.abort('enough')
      return new Promise<never>(() => {})
    }
    const { signal } = stop
    const sending = openSender(t, { lookup }).send(post('http://slow.example/', { signal }))
    t.equal(await sending.catch((reason) => reason), 'enough')
  })

  t.test('after the headers it is a success: only the body is cut short', async (t) => {
    const [receiver, sender] = [await openReceiver(t), openSender(t)]
    const stop = new AbortController()
    receiver.script(({ socket }) => {
      socket?.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\na')
    })
    const sending = sender.send(post(receiver.url, { signal: stop.signal }))
    await once(HEADERS, 'came')
    stop.abort()
    t.match(await sending, { status: 200, error: null })
    await receiver.quiet()
  })
})

t.test('over TLS', async (t) => {
  const folder = t.testdir({})
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1'
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-keyout',
      'key',
      '-out',
      'cert',
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
      '-addext',
      names,
    ],
    { cwd: folder, stdio: 'pipe' },
  )
  const tls = { key: readFileSync(`${folder}/key`), cert: readFileSync(`${folder}/cert`) }

  t.test('a certificate that nobody vouches for is a failure', async (t) => {
    const [receiver, sender] = [await openReceiver(t, { tls }), openSender(t)]
    const error = 'TLS failed (DEPTH_ZERO_SELF_SIGNED_CERT)'
    t.match(await sender.send(post(receiver.url)), { status: null, error })
    t.equal(receiver.received.length, 0)
    await receiver.quiet()
  })

  t.test('so is the wrong protocol', async (t) => {
    const [plain, secure] = [await openReceiver(t), await openReceiver(t, { tls })]
    const sender = openSender(t)
    const swapped = (url: string) =>
      url.startsWith('https') ? url.replace('https', 'http') : url.replace('http', 'https')
    t.match(await sender.send(post(swapped(plain.url))), {
      status: null,
      error: /^TLS failed \(E\w+\)$/,
    })
    t.match(await sender.send(post(swapped(secure.url))), {
      status: null,
      error: /closed|valid HTTP/,
    })
  })

  t.test('a trusted one is used, kept, and replaced when stale', async (t) => {
    const [receiver, sender] = [await openReceiver(t, { tls }), openSender(t)]
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0' // stands in for a trusted certificate
    t.teardown(() => {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    })
    receiver.script(200, 200, ({ socket }) => socket?.destroy())
    for (let count = 1; count <= 3; count++) {
      t.match(await sender.send(post(receiver.url)), { status: 200, error: null })
    }
    const [first, second, stale, fresh] = await receiver.until(4)
    t.equal(first?.remotePort, second?.remotePort)
    t.equal(second?.remotePort, stale?.remotePort)
    t.not(stale?.remotePort, fresh?.remotePort)
  })
})

t.test('node had nothing to warn of', async (t) => {
  t.same(
    warnings.filter((text) => !text.includes('NODE_TLS_REJECT_UNAUTHORIZED')),
    [],
  )
})
