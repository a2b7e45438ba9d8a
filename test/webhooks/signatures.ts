import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { newSecret, signedHeaders } from '../../src/webhooks/message.ts'

const AT = Date.parse('2026-11-20T09:54:00.789Z')

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
