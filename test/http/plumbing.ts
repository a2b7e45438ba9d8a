import { once } from 'node:events'
import { type IncomingMessage, request as nodeRequest } from 'node:http'
import { connect as dial } from 'node:net'
import { Hono } from 'hono'
import t from 'tap'
import { z } from 'zod'
import type { ServiceContext, ServiceEnv } from '../../src/http/context.ts'
import { ERRORS } from '../../src/http/errors.ts'
import { requireMatch } from '../../src/http/etag.ts'
import { errorHandler } from '../../src/http/middleware/error-format.ts'
import { newestFirst, paginate } from '../../src/http/pagination.ts'
import { problemResponse } from '../../src/http/problem-json.ts'
import { readBytes, readJson } from '../../src/http/request-body.ts'
import { requestListener } from '../../src/http/request-listener.ts'
import { parseQuery } from '../../src/http/schemas/parse-query.ts'
import { paging } from '../../src/http/schemas/query.ts'
import { listen } from '../../src/http/server.ts'
import { AppError, ERROR_CODES, type FieldError } from '../../src/model/app-error.ts'

const MIB = 1024 * 1024

function newApp(log: (line: string) => void = (line) => t.fail(line)) {
  return new Hono<ServiceEnv>().onError(errorHandler(log))
}

const CaseInput = z.object({
  title: z.string().max(500),
  tags: z.array(z.string()).optional(),
  kind: z.enum(['bug', 'task']).optional(),
  note: z.string().max(9).optional(),
  path: z
    .string()
    .refine((path) => path.startsWith('/'), 'expected an absolute path')
    .optional(),
  steps: z.array(z.object({ timeout: z.string() })).optional(),
})

const jsonApp = newApp()
  .post('/json', async (c) => c.json(await readJson(c, CaseInput)))
  .post('/optional', async (c) =>
    c.json(await readJson(c, z.object({ note: z.string().optional() }))),
  )
  .post('/loose', async (c) => c.json(await readJson(c, z.looseObject({}))))

function post(body: string | Uint8Array<ArrayBuffer>, type = 'application/json', path = '/json') {
  return jsonApp.request(path, {
    method: 'POST',
    body,
    headers: type ? { 'content-type': type } : {},
  })
}

interface Problem {
  detail: string
  errors: FieldError[]
  etag?: string | null
}

const problemOf = async (response: Response) => (await response.json()) as Problem

// Body

t.test('a JSON body comes as the schema gives it, without unknown fields', async (t) => {
  const response = await post('{"title":"a","__proto__":{"admin":true},"nope":1}')
  t.equal(response.status, 200)
  t.strictSame(await response.json(), { title: 'a' })
})

t.test('__proto__ is dropped wherever it stands', async (t) => {
  const response = await post('{"a":[{"__proto__":{"b":1},"c":2}]}', undefined, '/loose')
  t.equal(await response.text(), '{"a":[{"c":2}]}')
})

const types: [string, number][] = [
  ['application/json', 200],
  ['Application/JSON; charset=UTF-8', 200],
  ['application/json;charset="utf-8"', 200],
  ['application/json; charset=latin1', 415],
  ['text/plain', 415],
  ['application/x-www-form-urlencoded', 415],
  ['application/jsonx', 415],
  ['text/plain; application/json', 415],
]

t.test('a JSON body must say what it is', async (t) => {
  for (const [type, expected] of types) {
    const response = await post('{"title":"a"}', type)
    t.equal(response.status, expected, type)
    if (expected === 415) t.match(await response.text(), /application\/json/)
  }
})

t.test(
  'what came with the wrong type is told what to send, in the body and in the headers',
  async (t) => {
    const wrong = await post('title=a', 'application/x-www-form-urlencoded')
    t.equal(wrong.headers.get('accept'), 'application/json')
    t.equal(wrong.headers.get('accept-post'), 'application/json')
    t.match(await wrong.json(), { accept: 'application/json' })
    const body = { method: 'POST', body: 'x', headers: { 'content-encoding': 'gzip' } }
    const coded = await jsonApp.request('/json', body)
    t.strictSame([coded.status, coded.headers.get('accept-encoding')], [415, 'identity'])
    t.equal(coded.headers.get('accept-post'), null)
  },
)

t.test('a body without a required field may be empty, of any type, but not wrong', async (t) => {
  t.strictSame(await (await post('', 'text/plain', '/optional')).json(), {})
  t.strictSame(await (await post('{"note":"x"}', undefined, '/optional')).json(), { note: 'x' })
  t.equal((await post('{"note":5}', undefined, '/optional')).status, 400)
  t.equal((await post('x', 'text/plain', '/optional')).status, 415)
})

const nested = (depth: number) => `{"title":${'['.repeat(depth)}${']'.repeat(depth)}}`
const notJson: [string, string | Uint8Array<ArrayBuffer>, RegExp][] = [
  ['a wrong token', '{\n  "title": x}', /line 2, column 12/],
  ['a wrong token far in', `{"a":"${'é'.repeat(500)}",\n\n"b": tru}`, /line 3, column 9/],
  ['a comma too many', '{"title":"a",}', /line 1, column 14/],
  ['an end too early', '{"title":', /line 1, column 10/],
  [
    'bytes that are no UTF-8',
    Uint8Array.of(0x7b, 0x22, 0xc3, 0x28),
    /not UTF-8: byte 2 is invalid/,
  ],
  ['an array', '[]', /an array/],
  ['null', 'null', /null/],
  ['a string', '"x"', /a string/],
  ['200,000 arrays in each other', `${'['.repeat(200_000)}${']'.repeat(200_000)}`, /array/],
  ['200,000 arrays in a field', nested(200_000), /deeper than 64/],
  ['65 levels', nested(65), /deeper than 64/],
]

t.test('what is no JSON object is refused with the place', async (t) => {
  for (const [name, body, detail] of notJson) {
    const response = await post(body)
    t.equal(response.status, 400, name)
    t.match(await response.json(), { code: 'invalid_json', detail }, name)
  }
})

const wrongFields: [string, string, string, RegExp][] = [
  ['in a list', '{"title":"a","tags":["x",{"a":1}]}', 'tags[1]', /got the object \{"a":1\}$/],
  ['deeper', '{"title":"a","steps":[{"timeout":1}]}', 'steps[0].timeout', /expected a string/],
  [
    'none of the words',
    '{"title":"a","kind":"x"}',
    'kind',
    /^expected "bug" or "task"; got the string "x"$/,
  ],
  ['too long', '{"title":"a","note":"1234567890"}', 'note', /^expected at most 9 characters; got/],
  [
    'by a rule of its own',
    '{"title":"a","path":"b"}',
    'path',
    /^expected an absolute path; got the string "b"$/,
  ],
  [
    'long',
    `{"title":"a","kind":"${'😀'.repeat(99)}"}`,
    'kind',
    /got the string "😀{1,30}[^😀]?…$/u,
  ],
  ['with half a character', '{"title":"\\ud800"}', 'title', /half of a surrogate pair/],
  [
    'with half a character in a list',
    '{"title":"a","tags":["x","\\udc00"]}',
    'tags[1]',
    /surrogate/,
  ],
  [
    'named with half a character',
    '{"title":"a","x":{"\\ud800":1}}',
    'x["\\ud800"]',
    /has a name with/,
  ],
]

t.test('if a body is rejected, its unknown fields are named, with what was meant', async (t) => {
  const { errors, detail } = await problemOf(await post('{"titel":"a","zzzzzzzzz":1,"kind":"x"}'))
  t.match(errors, [
    { path: 'title', message: 'expected a string; it is missing' },
    { path: 'kind', message: /^expected "bug" or "task"/ },
    { path: 'titel', message: 'not a known field; did you mean title?' },
    { path: 'zzzzzzzzz', message: /^not a known field; the fields are title, / },
  ])
  t.equal(
    detail,
    'title: expected a string; it is missing. titel: not a known field; did you mean title? 2 more in "errors".',
  )
  t.equal((await post('{"title":"a","titel":"b"}')).status, 200, 'otherwise they are ignored')
})

t.test('a wrong field is named, with what came and what was expected', async (t) => {
  for (const [name, body, path, message] of wrongFields) {
    const response = await post(body)
    t.equal(response.status, 400, name)
    const problem = await problemOf(response)
    t.match(problem, { code: 'bad_request', errors: [{ path, message }] }, name)
    t.ok(problem.errors[0]!.message.length < 200)
  }
})

t.test('of very many wrong fields only the first are told', async (t) => {
  const response = await post(JSON.stringify({ title: 'a', tags: Array(1000).fill(0) }))
  const problem = await problemOf(response)
  t.equal(problem.errors.length, 20)
  t.match(problem.detail, /999 more/)
})

t.test('with a real server', async (t) => {
  const app = newApp()
    .post('/small', async (c) => c.json((await readBytes(c, 10)).byteLength))
    .post('/brief', async (c) =>
      c.json((await readBytes(c, 10, { bytes: MIB, ms: 100 })).byteLength),
    )
    .post('/little', async (c) =>
      c.json((await readBytes(c, 10, { bytes: MIB, ms: 60_000 })).byteLength),
    )
  const gone = new Promise((resolve) => {
    app.post('/gone', async (c) => {
      await readBytes(c, MIB).catch(resolve)
      return c.text('')
    })
  })
  const server = await listen(
    requestListener(app.fetch, (line) => t.fail(line)),
    { port: 0, log: (line) => t.fail(line) },
  )
  t.teardown(() => server.close())

  const send = (path: string, parts: Uint8Array[], headers = {}) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const request = nodeRequest(server.url + path, { method: 'POST', headers, agent: false })
      request.on('error', reject).on('response', async (response) => {
        let text = ''
        for await (const part of response.setEncoding('utf8')) text += part
        resolve({ status: response.statusCode ?? 0, text })
      })
      for (const part of parts) request.write(part)
      request.end()
    })

  await t.test('takes a body of exactly the limit', async (t) => {
    t.same(await send('/small', [Buffer.alloc(4), Buffer.alloc(6)]), { status: 200, text: '10' })
  })

  await t.test('refuses one byte more, by its length, and says so', async (t) => {
    const { status, text } = await send('/small', [Buffer.alloc(11)], { 'content-length': 11 })
    t.equal(status, 413)
    t.match(text, /has 11 bytes; the limit is 10/)
  })

  await t.test('refuses one byte more in chunks, after reading it all', async (t) => {
    const { status, text } = await send('/small', Array(2).fill(Buffer.alloc(MIB)))
    t.equal(status, 413)
    t.match(text, new RegExp(`has ${2 * MIB} bytes; the limit is 10`))
  })

  await t.test('does not read a refused body for ever', async (t) => {
    const answer = await new Promise<string>((resolve) => {
      const socket = dial(server.port, '127.0.0.1')
      socket.write(
        'POST /brief HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\nand then nothing',
      )
      socket.once('data', (bytes) => {
        resolve(String(bytes))
        socket.destroy()
      })
    })
    t.match(answer, /^HTTP\/1\.1 413/)
  })

  await t.test('nor more than a limit of it', async (t) => {
    const request = nodeRequest(`${server.url}/little`, { method: 'POST', agent: false })
    request.on('error', () => {}) // it is cut in the end
    const pump = () => {
      while (!request.destroyed && request.write(Buffer.alloc(MIB / 4)));
    }
    request.on('drain', pump)
    pump()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    t.equal(response.statusCode, 413)
    t.match((await response.toArray()).join(''), /has more than 1\d{6} bytes/)
    request.destroy()
  })

  await t.test('a client that goes away in the middle is no failure of the service', async (t) => {
    const socket = dial(server.port, '127.0.0.1')
    socket.write('POST /gone HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\nsome', () =>
      socket.destroy(),
    )
    t.match(await gone, { code: 'bad_request', message: /closed before/ })
  })
})

// Problems

t.test('every refusal has its status, and standard members that nothing overwrites', async (t) => {
  for (const code of ERROR_CODES) {
    const refusal = new AppError(code, 'Why.', { extra: { status: 1, missing: ['x'] } })
    const response = problemResponse(refusal)
    const { status, title } = ERRORS[code]
    t.equal(response.status, status, code)
    t.equal(response.headers.get('content-type'), 'application/problem+json')
    const standard = { type: `urn:casefile:${code}`, title, status, detail: 'Why.', code }
    t.match(await response.json(), { ...standard, missing: ['x'] })
  }
})

t.test('an unknown error is logged, and not told', async (t) => {
  const lines: string[] = []
  const app = newApp((line) => lines.push(line)).get('/x', () => {
    throw new Error('ENOENT: /home/me/secret', { cause: new Error('deeper') })
  })
  const response = await app.request('/x')
  t.equal(response.status, 500)
  t.notMatch(await response.text(), /secret|plumbing\.ts/)
  t.match(lines.join(), /GET \/x: Error: ENOENT: \/home\/me\/secret.*deeper/s)
  const failing = newApp((line) => lines.push(line)).get('/y', () => {
    throw new AppError('storage_failed', 'It was not saved (EIO).')
  })
  t.equal((await failing.request('/y')).status, 500)
  t.equal(lines.at(-1), 'GET /y: It was not saved (EIO).')
})

// ETag

const preconditions: [string, string, string | null, number][] = [
  ['if-match', '"a"', '"a"', 200],
  ['if-match', '"b", "a"', '"a"', 200],
  ['if-match', '*', '"a"', 200],
  ['if-match', '*', null, 412],
  ['if-match', '"b"', '"a"', 412],
  ['if-match', 'W/"a"', '"a"', 412],
  ['if-match', 'a', '"a"', 412],
  ['if-none-match', '*', null, 200],
  ['if-none-match', '*', '"a"', 412],
  ['if-none-match', 'W/"a"', '"a"', 412],
  ['if-none-match', '"b"', '"a"', 200],
  ['x-none', '', '"a"', 200],
]

t.test('a PUT is held to its preconditions', async (t) => {
  for (const [name, value, current, expected] of preconditions) {
    const app = newApp().put('/x', (c) => {
      requireMatch(c, current)
      return c.text('done')
    })
    const response = await app.request('/x', { method: 'PUT', headers: { [name]: value } })
    t.equal(response.status, expected, `${name}: ${value}, now ${current}`)
    if (expected === 412) t.equal((await problemOf(response)).etag, current)
  }
})

// Pages

const queryOf = (c: ServiceContext) =>
  parseQuery({ ...paging, state: z.string().optional() }, c.req.queries())

t.test('a list', async (t) => {
  const at = (n: number) => `2026-01-01T00:00:00.00${n}Z`
  let items = ['e', 'd', 'c', 'b', 'a'].map((id) => ({ id, created_at: at(id < 'c' ? 1 : 2) }))
  items.sort(newestFirst)
  const app = newApp().get('/list', (c) => paginate({ c, query: queryOf(c) }, items))
  const ids = async (response: Response) =>
    ((await response.json()) as { id: string }[]).map(({ id }) => id).join('')
  const next = (response: Response) =>
    /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]

  await t.test('is whole, newest first, then by id', async (t) => {
    const response = await app.request('/list')
    t.equal(await ids(response), 'cdeab')
    t.equal(response.headers.get('link'), null)
  })

  await t.test('goes on after the last item, though items came and went', async (t) => {
    const first = await app.request('/list?limit=2')
    const link = next(first)!
    items = [{ id: 'z', created_at: at(3) }, ...items.filter(({ id }) => id !== 'd')]
    t.equal(await ids(await app.request(link)), 'ea')
    items = []
    t.equal(await ids(await app.request(link)), '')
  })

  await t.test(
    'loads what is on the page alone, and refuses more than an answer may hold',
    async (t) => {
      const shown: string[] = []
      const serialize = async ({ id }: { id: string }) => {
        shown.push(id)
        return { id, content: 'x'.repeat(MIB / 2) }
      }
      const four = ['d', 'c', 'b', 'a'].map((id) => ({ id, created_at: at(1) })).sort(newestFirst)
      const app = newApp().get('/big', (c) =>
        paginate({ c, query: queryOf(c) }, four, { serialize, maxCharacters: 2 * MIB }),
      )
      const first = await app.request('/big?limit=2')
      t.equal(await ids(first), 'ab')
      t.strictSame(shown, ['a', 'b'])
      const whole = await app.request('/big')
      t.equal(whole.status, 413)
      t.match(await whole.json(), { code: 'too_large', detail: /limit=3/ })
      t.equal(await ids(await app.request('/big?limit=3')), 'abc')
    },
  )

  const wrong = ['limit=0', 'limit=1001', 'limit=-1', 'limit=1.5', 'limit=x', 'limit=', 'limit=1e2']
  for (const query of [...wrong, 'limit=1&cursor=x', 'limit=1&cursor=', 'cursor=WyJhIiwiYiJd']) {
    const response = await app.request(`/list?${query}`)
    t.equal(response.status, 400, query)
    const path = query.includes('cursor') ? 'cursor' : 'limit'
    t.match(await response.json(), { code: 'bad_request', errors: [{ path }] })
  }
})
