import { spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { newSecret, signedHeaders } from '../../src/webhooks/message.ts'
import { anyCharacter } from '../fixtures/any-character.ts'
import { isLong } from '../fixtures/full.ts'

const AT = Date.parse('2026-11-20T09:54:00.789Z')
const COUNT = isLong ? 1000 : 100

const signed = (secrets: string[], body = Buffer.from('{}')) =>
  signedHeaders({ id: 'evt_1', type: 'case_updated', body, secrets, at: AT })

t.test('published vectors', async (t) => {
  const github = signed(["It's a Secret to Everybody"], Buffer.from('Hello, World!'))
  t.equal(
    github['X-Service-Signature'],
    'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
  )
  const standard = signedHeaders({
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    type: 'ping',
    at: 1_614_265_330_000,
    body: Buffer.from('{"test": 2432232314}'),
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  })
  t.same(standard, {
    'X-Service-Event': 'ping',
    'X-Service-Signature': standard['X-Service-Signature'],
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

t.test('of the bytes as they are, whatever else would say the same', async (t) => {
  for (const body of ['{ "b": 1.0, "a": 1 }', '{"a":1,"a":2}', '{"a":"\\u00e4"}\n', ' {"a":"ä"}']) {
    const headers = signed(['a secret'], Buffer.from(body))
    const mac = createHmac('sha256', 'a secret').update(Buffer.from(body)).digest('hex')
    t.equal(headers['X-Service-Signature'], `sha256=${mac}`, body)
    const key = new Webhook(Buffer.from('a secret'), { format: 'raw' })
    t.equal(headers['webhook-signature'], key.sign('evt_1', new Date(AT), body))
  }
})

t.test("a receiver with the library's verify takes it", async (t) => {
  const secrets = [newSecret(), 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa'] // the second without padding
  for (const secret of secrets) {
    const signing = { id: 'evt_1', type: 'ping', body: Buffer.from('{"a":"ä"}') }
    const headers = signedHeaders({ ...signing, secrets: [secret], at: Date.now() })
    t.same(new Webhook(secret).verify('{"a":"ä"}', headers), { a: 'ä' })
    t.throws(() => new Webhook(secret).verify('{"a":"ö"}', headers), 'another body')
    t.throws(() => new Webhook(newSecret()).verify('{"a":"ä"}', headers), 'another secret')
  }
})

t.test('a new secret has 24 random bytes', async (t) => {
  const secrets = Array.from({ length: 20 }, newSecret)
  for (const secret of secrets) t.match(secret, /^whsec_[A-Za-z0-9+/]{32}$/)
  t.equal(new Set(secrets).size, 20)
})

t.test('after a change of secret both sign, the new one first', async (t) => {
  const [old, young] = [newSecret(), newSecret()]
  const signature = (...secrets: string[]) => signed(secrets)['webhook-signature'] ?? ''
  t.equal(signature(young, old), `${signature(young)} ${signature(old)}`)
  t.equal(signed([young, old])['X-Service-Signature'], signed([young])['X-Service-Signature'])
  t.throws(() => signed([]), TypeError, 'nothing is sent unsigned')
})

t.test('python3 verifies both for random bodies and secrets', async (t) => {
  const text = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 80 })
  const key = fc.uint8Array({ minLength: 1, maxLength: 64 }).map((bytes) => Buffer.from(bytes))
  const secret = fc.oneof(
    text,
    key.map((bytes) => `whsec_${bytes.toString('base64')}`),
    text.map((rest) => `whsec_${rest}`),
    fc.constantFrom('whsec_', 'whsec_=', 'whsec_ab_-', 'ключ', '\u{1f511}', 'whsec_a'),
  )
  const given = fc.record({ secret, body: text, at: fc.nat({ max: 2 ** 41 }) })
  const lines = fc.sample(given, COUNT).map(({ secret, body, at }) => {
    const bytes = Buffer.from(body)
    const signing = { id: 'evt_1_ab', type: 'x', body: bytes, secrets: [secret], at }
    const headers = signedHeaders(signing)
    return JSON.stringify({ secret, body: bytes.toString('base64'), headers, at })
  })
  const { stdout, stderr } = spawnSync('python3', ['-c', PYTHON], { input: lines.join('\n') })
  t.equal(stderr.toString(), '')
  t.same(JSON.parse(stdout.toString()), { verified: COUNT, wrong: [] })
})

const PYTHON = `
import base64, binascii, hashlib, hmac, json, sys

def key_of(secret):
    if secret.startswith('whsec_'):
        text = secret[6:]
        try:
            key = base64.b64decode(text + '=' * (-len(text) % 4), validate=True)
            if key: return key
        except (binascii.Error, ValueError):
            pass
    return secret.encode()

verified, wrong = 0, []
for line in sys.stdin.buffer:
    case = json.loads(line)
    body, secret, headers = base64.b64decode(case['body']), case['secret'], case['headers']
    plain = 'sha256=' + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    stamp = str(case['at'] // 1000)
    content = b'evt_1_ab.' + stamp.encode() + b'.' + body
    standard = 'v1,' + base64.b64encode(hmac.new(key_of(secret), content, hashlib.sha256).digest()).decode()
    if (plain, standard, stamp) == (headers['X-Service-Signature'], headers['webhook-signature'], headers['webhook-timestamp']):
        verified += 1
    else:
        wrong.append(case)
print(json.dumps({'verified': verified, 'wrong': wrong}))
`
