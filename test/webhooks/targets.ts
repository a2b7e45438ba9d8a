import t from 'tap'
import { AppError } from '../../src/model/app-error.ts'
import { checkTarget, denialReason, type Lookup, parseTarget } from '../../src/webhooks/targets.ts'
import { openReceiver } from '../fixtures/receiver.ts'

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

function errorFrom(error: unknown): string {
  if (!(error instanceof AppError)) throw error
  return error.errors.map(({ path, message }) => `${error.code} ${path}: ${message}`).join()
}

t.test('a URL that could never be reached is refused', async (t) => {
  const cases: [string, RegExp][] = [
    ['', /absolute http or https URL/],
    ['/hook', /absolute http or https URL/],
    ['example.com/hook', /absolute http or https URL/],
    ['http:example.com', /absolute http or https URL/],
    ['http:///example.com', /absolute http or https URL/],
    ['http://exa mple.com/', /absolute http or https URL/],
    [' http://example.com/', /absolute http or https URL/],
    ['http://example.com/\n', /absolute http or https URL/],
    ['http:\\\\example.com\\hook', /absolute http or https URL/],
    ['http://example.com:65536/', /absolute http or https URL/],
    ['http://[fe80::1%25eth0]/', /absolute http or https URL/],
    ['data:text/plain,hi', /absolute http or https URL/],
    ['file:///etc/passwd', /absolute http or https URL/],
    ['ftp://example.com/', /absolute http or https URL/],
    ['javascript:alert(1)', /absolute http or https URL/],
    ['http://user:hunter2@example.com/', /without a user name or password/],
    ['http://user@example.com/', /without a user name or password/],
    ['http://@example.com/', /without a user name or password/],
    ['https://example.com/#part', /without a fragment/],
    ['https://example.com/#', /without a fragment/],
    [`https://example.com/${'a'.repeat(1981)}`, /at most 2000 characters; got 2001/],
    [`https://example.com/${'ä'.repeat(400)}`, /at most 2000 characters; got 2420/],
    ...[0, 1, 9, 22, 25, 6000, 6667, 10080].map((port): [string, RegExp] => [
      `http://127.0.0.1:${port}/`,
      new RegExp(`block port ${port}`),
    ]),
  ]
  for (const [text, message] of cases) {
    const shown = JSON.stringify(text.slice(0, 50))
    try {
      parseTarget(text)
      t.fail(shown)
    } catch (error) {
      t.match(errorFrom(error), /^bad_request url: expected /, shown)
      t.match(errorFrom(error), message, shown)
      t.notMatch((error as AppError).message, /hunter2/, 'and says no password')
    }
  }
})

t.test('the ports of services that could mistake a request are blocked', async (t) => {
  const ports = Array.from({ length: 10_100 }, (_, at) => at + 1)
  const blocked = ports.filter((port) => {
    try {
      return parseTarget(`http://127.0.0.1:${port}/`) === null
    } catch (error) {
      return errorFrom(error) !== ''
    }
  })
  t.equal(blocked.length, 82)
  for (const port of [1, 22, 25, 6000, 6697, 10080]) {
    const error = await fetch(`http://127.0.0.1:${port}/`).catch((error) => error)
    t.equal(error.cause?.message, 'bad port', 'as in the standard of fetch')
  }
})

t.test('others are taken as they are', async (t) => {
  const texts = [
    'http://127.0.0.1:7000/hook',
    'HTTP://localhost:3000',
    'https://example.com',
    'http://[::1]:8080/',
    'https://hooks.example.com/services/a@b/c?token=x@y%20z',
    'http://receiver/',
    'http://2130706433:7000/',
  ]
  for (const text of texts) t.equal(parseTarget(text).href, new URL(text).href, text)
})

t.test('addresses', async (t) => {
  const denied: [string, RegExp][] = [
    ['0.0.0.0', /unspecified/],
    ['0.1.2.3', /unspecified/],
    ['::', /unspecified/],
    ['169.254.169.254', /link-local/],
    ['fe80::1', /link-local/],
    ['fe80::1%eth0', /link-local/],
    ['febf::1', /link-local/],
    ['224.0.0.1', /multicast/],
    ['239.255.255.250', /multicast/],
    ['ff02::1', /multicast/],
    ['255.255.255.255', /broadcast/],
    ['240.0.0.1', /reserved/],
    ['::ffff:169.254.169.254', /link-local/],
    ['::ffff:a9fe:a9fe', /link-local/],
    ['::a9fe:a9fe', /contains 169.254.169.254, which is a link-local/],
    ['64:ff9b::a9fe:a9fe', /contains 169.254.169.254, which is a link-local/],
    ['64:ff9b:1::a9fe:a9fe', /contains 169.254.169.254, which is a link-local/],
    ['::ffff:0:a9fe:a9fe', /contains 169.254.169.254, which is a link-local/],
    ['2002:a9fe:a9fe::1', /contains 169.254.169.254, which is a link-local/],
    ['2002::1', /contains 0.0.0.0, which is an unspecified/],
    ['fd00:ec2::254', /cloud metadata/],
    ['100.100.100.200', /cloud metadata/],
    ['192.0.0.192', /cloud metadata/],
  ]
  for (const [address, why] of denied) t.match(denialReason(address, 80, 7878) ?? '', why, address)
  const home = ['127.0.0.1', '127.255.0.1', '::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1']
  for (const address of home) {
    t.match(denialReason(address, 7878, 7878) ?? '', /this service itself/, address)
    t.equal(denialReason(address, 7000, 7878), null, address)
    t.equal(denialReason(address, 7878, null), null, address)
  }
  const allowed = ['10.0.0.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', '198.18.0.1', '8.8.8.8']
  for (const address of [
    ...allowed,
    'fd00::1',
    'fd00:ec2::253',
    '2606:4700::1',
    '::ffff:10.0.0.1',
  ]) {
    t.equal(denialReason(address, 7878, 7878), null, address)
  }
})

t.test('a target that leads where nothing may be sent is refused', async (t) => {
  const receiver = await openReceiver(t)
  const { port } = receiver
  const cases: [string, RegExp, Lookup?][] = [
    [`http://127.0.0.1:${port}/`, /127\.0\.0\.1, which is this service itself/],
    [`http://2130706433:${port}/`, /this service itself/],
    [`http://0x7f.1:${port}/`, /this service itself/],
    [`http://[::ffff:127.0.0.1]:${port}/`, /this service itself/],
    [`http://localhost:${port}/`, /this service itself/],
    [`http://localhost.:${port}/`, /this service itself/, resolver(['::1', '127.0.0.1'])],
    ['http://169.254.169.254/latest/', /169\.254\.169\.254, which is a link-local/],
    ['http://2852039166/', /link-local/],
    ['http://0xa9fea9fe/', /link-local/],
    ['http://0251.0376.0251.0376/', /link-local/],
    ['http://169.254.43518/', /link-local/],
    ['http://[::ffff:169.254.169.254]/', /link-local/],
    ['http://[64:ff9b::169.254.169.254]/', /link-local/],
    [`http://0.0.0.0:${port}/`, /unspecified/],
    [`http://0:${port}/`, /unspecified/],
    [`http://[::]:${port}/`, /unspecified/],
    ['http://metadata.example/', /link-local/, resolver(['169.254.169.254'])],
    ['http://two.example/', /link-local/, resolver(['10.0.0.1', 'fe80::1'])],
    [`http://zero.example:${port}/`, /unspecified/, resolver(['0.0.0.0'])],
  ]
  for (const [text, message, lookup] of cases) {
    const options = { ownPort: port, ...(lookup ? { lookup } : {}) }
    const refusal = await checkTarget(parseTarget(text), options).then(
      () => 'accepted',
      (error) => errorFrom(error),
    )
    t.match(refusal, /^bad_request url: expected another host/, text)
    t.match(refusal, message, text)
  }
  t.equal(receiver.connections, 0, 'and nothing was sent')
})

t.test('a target that leads elsewhere is accepted, and one that leads nowhere yet', async (t) => {
  const lookup = resolver(['10.0.0.1', 'fd00::1'], [])
  await checkTarget(parseTarget('http://known.example/'), { ownPort: 80, lookup })
  await checkTarget(parseTarget('http://unknown.example/'), { ownPort: 80, lookup })
  await checkTarget(parseTarget('http://127.0.0.1:7000/'), { ownPort: 7878, lookup })
  t.equal(lookup.asked, 2, 'an address is not looked up')
  const broken: Lookup = () => Promise.reject(new TypeError('a mistake of ours'))
  await t.rejects(checkTarget(parseTarget('http://a/'), { ownPort: 80, lookup: broken }), TypeError)
})
