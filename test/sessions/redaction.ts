import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import type { CaseContents, Edit } from '../../src/model/case-contents.ts'
import type { NewTrailLine, TrailLine } from '../../src/model/trail.ts'
import { numbered } from '../../src/model/trail-lines.ts'
import { createRedactor, redactedUpdates } from '../../src/sessions/redaction.ts'
import type { Store } from '../../src/workspace/store.ts'
import { isFull } from '../fixtures/full.ts'

const PEM = [
  '-----BEGIN PRIVATE KEY-----',
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC',
  'BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj',
  'short/tail==',
  '-----END PRIVATE KEY-----',
].join('\n')

const ENVIRONMENT = {
  API_KEY: 'sk-0123456789abcdef',
  API_KEY_LONGER: 'sk-0123456789abcdef-and-more',
  DATABASE_URL: 'postgres://admin:p%40ssw0rd-x@db.example.com:5432/app',
  GH_PAT: 'ghp_åäö"quoted" / value',
  SSH_PRIVATE: PEM,
  CACHE_URL: 'redis://:s3c@localhost:6379',
  ODD_TOKEN: 'Zx9&<a>"b\'\\#c',
}

function streamed(environment: NodeJS.ProcessEnv, pieces: Buffer[]): string {
  const stream = createRedactor(environment).stream()
  const out = pieces.map((piece) => stream.write(piece))
  return Buffer.concat([...out, stream.end()]).toString()
}

const replaced: [what: string, text: string, expected: string][] = [
  ['a value', 'key=sk-0123456789abcdef.', 'key=[redacted API_KEY].'],
  ['the longest', 'sk-0123456789abcdef-and-more', '[redacted API_KEY_LONGER]'],
  ['the longest, which is not whole', 'sk-0123456789abcdef-and', '[redacted API_KEY]-and'],
  ['two in a row', 'sk-0123456789abcdef'.repeat(2), '[redacted API_KEY]'.repeat(2)],
  ['a password in an address', 'as p%40ssw0rd-x', 'as [redacted DATABASE_URL]'],
  ['the same, decoded', 'as p@ssw0rd-x', 'as [redacted DATABASE_URL]'],
  [
    'the rest of the address stays',
    'postgres://admin@db.example.com',
    'postgres://admin@db.example.com',
  ],
  [
    'a short one by what stands around it',
    'redis://:s3c@localhost s3c',
    'redis://[redacted CACHE_URL]localhost s3c',
  ],
  ['in JSON', JSON.stringify({ pat: ENVIRONMENT.GH_PAT }), '{"pat":"[redacted GH_PAT]"}'],
  [
    'in JSON of ASCII only',
    String.raw`ghp_\u00e5\u00e4\u00f6\"quoted\" / value`,
    '[redacted GH_PAT]',
  ],
  ['in an address', `?t=${encodeURIComponent(ENVIRONMENT.GH_PAT)}`, '?t=[redacted GH_PAT]'],
  [
    'in a form',
    `t=${new URLSearchParams({ t: ENVIRONMENT.GH_PAT }).toString().slice(2)}`,
    't=[redacted GH_PAT]',
  ],
  [
    'in an address that keeps its slashes',
    `/${encodeURI(ENVIRONMENT.GH_PAT)}/`,
    '/[redacted GH_PAT]/',
  ],
  [
    "the same, as Python's quote writes it",
    '/ghp_%C3%A5%C3%A4%C3%B6%22quoted%22%20/%20value/',
    '/[redacted GH_PAT]/',
  ],
  [
    "in PHP's JSON",
    String.raw`ghp_\u00e5\u00e4\u00f6\"quoted\" \/ value`.replaceAll('\\\\', '\\'),
    '[redacted GH_PAT]',
  ],
  ...[
    'Zx9&amp;&lt;a&gt;&quot;b&apos;\\#c',
    'Zx9&amp;<a>"b\'\\#c',
    'Zx9&#38;&#60;a&#62;&#34;b&#39;&#92;&#35;c',
    'Zx9&#x26;&#x3c;a&#x3E;&#X22;b&#x27;&#x5C;#c',
    'Zx9&<a]]><![CDATA[>"b\'\\#c',
    String.raw`Zx9\u0026\u003ca\u003E\"b'\\#c`,
    String.raw`Zx9\u0026\u003Ca\u003e\u0022b\u0027\u005c#c`,
    String.raw`Zx9&amp;&lt;a&gt;\&quot;b&#39;\\#c`,
    String.raw`Zx9&<a>"b'\\\#c`,
    String.raw`Zx9&<a>"b''\#c`,
    String.raw`Zx9&<a>""b'\''\#c`,
    String.raw`Zx9\&\<a\>\"b\'\\\#c`,
    String.raw`Zx9\x26\x3ca\x3E"b\'\\#c`,
    'Zx9%26%3Ca%3e%22b%27%5C%23c',
  ].map(
    (written, index) =>
      [`escaped ${index}`, `is ${written}.`, 'is [redacted ODD_TOKEN].'] as [
        string,
        string,
        string,
      ],
  ),
  ['several lines in XML', PEM.replaceAll('\n', '&#xA;'), '[redacted SSH_PRIVATE]'],
  ['several lines', `<${PEM}>`, '<[redacted SSH_PRIVATE]>'],
  ['several lines in JSON', JSON.stringify(PEM), '"[redacted SSH_PRIVATE]"'],
  ['the last of them', '> short/tail==', '> [redacted SSH_PRIVATE]'],
  ['one of them', '> BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj', '> [redacted SSH_PRIVATE]'],
  [
    'but not what stands around every key',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY-----',
  ],
]

t.test('a secret is replaced by the name of its variable', async (t) => {
  const redactor = createRedactor(ENVIRONMENT)
  for (const [what, text, expected] of replaced) {
    t.equal(redactor.text(text), expected, what)
    t.equal(streamed(ENVIRONMENT, [Buffer.from(text)]), expected, `${what}, as bytes`)
    const bytes = Array.from(Buffer.from(text), (byte) => Buffer.of(byte))
    t.equal(streamed(ENVIRONMENT, bytes), expected, `${what}, byte by byte`)
  }
})

t.test('what is left of one in a text that was cut', async (t) => {
  const { text } = createRedactor(ENVIRONMENT)
  const cut = [
    ['it said: sk-01234…', 'it said: [redacted API_KEY]…'],
    ['…456789abcdef was wrong', '…[redacted API_KEY] was wrong'],
    ['…bcdef…sk-0123456789abcdef…', '…bcdef…[redacted API_KEY]…'],
    ['…89abcdef-and-more…sk-0123', '…[redacted API_KEY_LONGER]…sk-0123'],
    ['is Zx9&amp;&lt;a&gt;…', 'is [redacted ODD_TOKEN]…'],
    ['…&lt;a&gt;&quot;b&apos;\\#c is', '…[redacted ODD_TOKEN] is'],
  ] as const
  for (const [said, expected] of cut) t.equal(text(said), expected)
})

t.test('which variables are secret', async (t) => {
  const value = 'Xk29_value-of-it'
  const secret = [
    'API_KEY',
    'api_key',
    'GITHUB_TOKEN',
    'AWS_SECRET_ACCESS_KEY',
    'PGPASSWORD',
    'MY_PASSWD',
    'MYSQL_PWD',
    'GOOGLE_CREDENTIALS',
    'BASIC_AUTH',
    'SESSION_COOKIE',
    'SSH_PRIVATE',
    'GH_PAT',
    'npm_config_//registry.example/:_authToken',
    'OPENAI_APIKEY',
    'SIGNING_PASSPHRASE',
    'SENTRY_DSN',
    'SLACK_WEBHOOK_URL',
    'GPG_PIN',
    'JWT',
    'BEARER',
    'PGPASS',
    'AZURE_STORAGE_CONNECTION_STRING',
    'HOOKS_WEBHOOK',
  ]
  const open = [
    'PATH',
    'PWD',
    'OLDPWD',
    'KEYBOARD',
    'AUTHOR',
    'PATTERN',
    'HOME',
    'MONKEY',
    'TOKENIZER',
    'WEBHOOK_HOST',
    'SPINNER',
  ]
  for (const name of secret) {
    t.equal(createRedactor({ [name]: value }).text(value), `[redacted ${name}]`, name)
  }
  for (const name of open) t.equal(createRedactor({ [name]: value }).text(value), value, name)
})

t.test('values that tell nothing stay as they are', async (t) => {
  const values = [
    'short',
    'true',
    'disabled',
    'Production',
    '12345678',
    '2026-11-21',
    '/home/me/.ssh/id_rsa',
    '~/keys',
    './keys/dev',
    '/usr/bin:/usr/local/bin',
    String.raw`C:\Users\me`,
    '',
  ]
  for (const value of values) {
    t.equal(createRedactor({ SOME_KEY: value }).text(`is ${value}`), `is ${value}`, value)
  }
  t.equal(
    createRedactor({ SOME_KEY: '/8Hk+Qz=s0mething' }).text('/8Hk+Qz=s0mething'),
    '[redacted SOME_KEY]',
  )
})

t.test('how short a value may be', async (t) => {
  const isFound = (name: string, value: string) =>
    createRedactor({ [name]: value }).text(`is ${value}.`) === `is [redacted ${name}].`
  t.ok(isFound('DB_PASSWORD', 'hunte2'), 'where the name leaves no doubt')
  t.ok(isFound('SHORT_TOKEN', 'aBcdef'))
  t.notOk(isFound('DB_PASSWORD', 'docker'), 'but no word')
  t.notOk(isFound('DB_PASSWORD', '123456'), 'and no number')
  t.notOk(isFound('SHORT_TOKEN', 'abc12'), 'shorter ones stand anywhere')
  t.notOk(isFound('SORT_KEY', 'name+1'))
})

t.test('a key of short lines, and one whose lines are written as one', async (t) => {
  const lines = 'v-line1-11111\nv-line2-22222\nno more of it\n}'
  const escaped = PEM.replaceAll('\n', '\\n')
  const redactor = createRedactor({ PRIVATE_KEY: lines, OTHER_PRIVATE_KEY: escaped })
  t.equal(redactor.text('> v-line2-22222'), '> [redacted PRIVATE_KEY]')
  t.equal(redactor.text('no more of it }'), 'no more of it }')
  t.equal(
    redactor.text(PEM.split('\n').slice(1, -1).join('\n')),
    Array(3).fill('[redacted OTHER_PRIVATE_KEY]').join('\n'),
  )
})

t.test('a token alone in an address', async (t) => {
  const { text } = createRedactor({ SENTRY_DSN: 'https://v-dsnkey@sentry.example/1' })
  t.equal(text('to https://v-dsnkey@sentry.example/1'), 'to [redacted SENTRY_DSN]')
  t.equal(text('key v-dsnkey'), 'key [redacted SENTRY_DSN]')
})

t.test('the same again changes nothing', async (t) => {
  const { text } = createRedactor({ A_PASSWORD: 'redacted', B_PASSWORD: 'A_PASSWORD' })
  const once = text('redacted A_PASSWORD')
  t.equal(once, '[redacted A_PASSWORD] [redacted B_PASSWORD]')
  t.equal(text(once), once)
})

t.test('whatever the chunks are, the result is that of the whole', async (t) => {
  const secrets = [
    'aabaabaa',
    'aabaabaab',
    'baabaabx',
    'ababababab',
    'a"b\na"b\na"b',
    'äbäbäbäb',
    '&a&b<&a&',
  ]
  const environment = Object.fromEntries(secrets.map((text, index) => [`K${index}_KEY`, text]))
  const redactor = createRedactor(environment)
  const part = fc.oneof(
    fc.constantFrom(...secrets),
    fc.constantFrom(
      'a',
      'b',
      'aab',
      'äb',
      'abab',
      '"',
      '\n',
      'x',
      '&',
      '&amp;',
      '&lt;',
      '%26',
      'amp;',
    ),
  )
  const chunked = fc.record({
    text: fc.array(part, { maxLength: 12 }).map((parts) => parts.join('')),
    cuts: fc.array(fc.nat(60), { maxLength: 12 }),
  })
  fc.assert(
    fc.property(chunked, ({ text, cuts }) => {
      const bytes = Buffer.from(text)
      const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].sort(
        (a, b) => a - b,
      )
      const pieces = places.slice(1).map((to, index) => bytes.subarray(places[index], to))
      const expected = redactor.text(text)
      const came = streamed(environment, pieces)
      if (came !== expected) throw new Error(`${came} is not ${expected}`)
      for (const secret of secrets) {
        if (expected.includes(secret))
          throw new Error(`${JSON.stringify(secret)} is left in ${expected}`)
      }
    }),
    { numRuns: isFull ? 400 : 50 },
  )
  t.pass('for all of them')
})

t.test('a line of the trail is redacted by what it says, whatever the key', async (t) => {
  const hash = `${'0123456789'.repeat(6)}abcd`
  const id = '3359e9da-452b-4dcf-aac6-71dadc60c8d1'
  const redactor = createRedactor({
    A_TOKEN: 'hunter2-0123',
    B_PASSWORD: 'executing',
    C_TOKEN: '789012',
    D_PASSWORD: 'deploy-1',

    E_SECRET: hash.replace('a', 'b'),
    F_API_KEY: id,
  })
  const keys = [
    'state',
    'type',
    'mode',
    'guard',
    'provider',
    'by',
    'what',
    'kind',
    'step',
    'sha256',
  ]
  const secret = Object.fromEntries(keys.map((key) => [key, 'hunter2-0123']))
  const written = async (line: NewTrailLine) => {
    let edit: Edit | undefined
    const store = {
      update: async (_: string, decide: (folder: CaseContents) => Edit[]) => {
        edit = decide({} as CaseContents)[0]
      },
    } as unknown as Store
    const lines = numbered([], [line], '2026-11-24T00:00:00.000Z')
    const decided = [{ file: 'session', edit: { lines } }] as unknown as Edit[]
    await redactedUpdates(store, redactor).update('x', () => decided)
    return (edit as unknown as { edit: { lines: TrailLine[] } }).edit.lines[0]!.fields
  }
  const said = await written({
    event: 'tool_call',
    fields: { ...secret, list: [secret] },
  } as unknown as NewTrailLine)
  t.notMatch(JSON.stringify(said), 'hunter2')
  t.equal((said as { kind?: unknown }).kind, '[redacted A_TOKEN]')
  const kept: NewTrailLine[] = [
    { event: 'session_state_changed', fields: { old_state: 'approved', new_state: 'executing' } },
    { event: 'plan_written', fields: { sha256: hash } },
    {
      event: 'step_started',
      fields: { step: 'deploy-1', cwd: '.', timeout_ms: 1, log: '1-deploy-1-2.log' },
    },
    {
      event: 'agent_completed',
      fields: { provider: 'deploy-1', mode: 'work', state: 'executing' },
    },
    {
      event: 'changed_during_run',
      fields: {
        changed_case: id.replace('3', '4'),
        file: 'case.md',
        what: 'state',
        from: '',
        to: '',
      },
    },
  ]
  for (const line of kept) t.strictSame(await written(line), line.fields, line.event)
  const forged = { mode: 'hunter2-0123', guard: 'mount' }
  t.strictSame(await written({ event: 'guarded', fields: forged } as unknown as NewTrailLine), {
    mode: '[redacted A_TOKEN]',
    guard: 'mount',
  })
  const whole = { a: hash.replace('a', 'b'), b: id, c: 'is executing', d: 'deploy-1' }
  t.strictSame(await written({ event: 'tool_call', fields: whole } as unknown as NewTrailLine), {
    a: '[redacted E_SECRET]',
    b: '[redacted F_API_KEY]',
    c: 'is [redacted B_PASSWORD]',
    d: '[redacted D_PASSWORD]',
  })
})

t.test('nothing is held back but what may be the beginning of a secret', async (t) => {
  const stream = createRedactor({ K_KEY: 'secret-value-1', L_KEY: 'secret-value-2' }).stream()
  const written: [bytes: string, given: string][] = [
    ['a line\n', 'a line\n'],
    ['ends in se', 'ends in '],
    ['cret-val', ''],
    ['ue-3, which is none', 'secret-value-3, which is none'],
    [' secret-valu', ' '],
    ['e-2!', '[redacted L_KEY]!'],
    ['s', ''],
  ]
  for (const [bytes, given] of written)
    t.equal(stream.write(Buffer.from(bytes)).toString(), given, bytes)
  t.equal(stream.end().toString(), 's')
  t.equal(stream.end().toString(), '', 'once')
})

t.test('bytes that are no text stay', async (t) => {
  const bytes = Buffer.concat([randomBytes(100_000), Buffer.of(0)])
  t.ok(createRedactor(ENVIRONMENT).stream().write(bytes) === bytes, 'not even copied')
})

t.test('secrets of the settings are learned, each once', async (t) => {
  const redactor = createRedactor({ A_TOKEN: 'first-secret-1' })
  redactor.learn([
    { name: 'notify', text: 'second-secret-2' },
    { name: 'again', text: 'first-secret-1' },
  ])
  const stream = redactor.stream()
  redactor.learn([{ name: 'third', text: 'third-secret-3' }])
  const text = 'first-secret-1 second-secret-2 third-secret-3'
  const expected = '[redacted A_TOKEN] [redacted notify] [redacted third]'
  t.equal(redactor.text(text), expected)
  t.equal(Buffer.concat([stream.write(Buffer.from(text)), stream.end()]).toString(), expected)
  t.strictSame(redactor.value({ a: [text, 1, null], b: undefined }), { a: [expected, 1, null] })
})

t.test('without secrets nothing is looked at', async (t) => {
  const redactor = createRedactor({ PATH: '/usr/bin' })
  const bytes = Buffer.from('some bytes')
  t.ok(redactor.stream().write(bytes) === bytes)
  t.equal(redactor.text('some text'), 'some text')
})
