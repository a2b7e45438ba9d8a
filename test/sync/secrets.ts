import { renameSync, rmSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { knownSecrets } from '../../src/sync/known-secrets.ts'
import { isLong } from '../fixtures/full.ts'
import { must } from '../fixtures/session-client.ts'
import { makeOrigin, openSyncedClone } from '../fixtures/synced-clones.ts'

/** In parts, or sites that look for secrets would find these. */
const of = (...parts: string[]) => parts.join('')
const some = (length: number) =>
  'aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW'.repeat(1 + length / 20).slice(0, length)
const hex = (length: number) => '0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c'.repeat(2).slice(0, length)
const KEY = of(
  '-----BEGIN OPENSSH ',
  'PRIVATE KEY-----\n',
  `${some(70)}\n${some(70)}\n`,
  '-----END',
)
const GITHUB = of('ghp', `_${some(36)}`)
const AWS = of('AKI', 'A2B3CD4EFGH5IJ6KL')

t.test('keys and tokens are known by their form', async (t) => {
  const secrets: [what: string, text: string][] = [
    ['a private key', KEY],
    ['a private key', KEY.replaceAll('\n', '\\n').replace('OPENSSH ', '')],
    ['an access key of AWS', `key: ${AWS}`],
    ['an access key of AWS', AWS.replace('AKIA', 'ASIA')],
    ['a secret key of AWS', `aws_secret_access_key = ${some(40)}`],
    ['a secret key of AWS', `"secretAccessKey": "${some(40)}"`],
    ...['ghp', 'gho', 'ghu', 'ghs'].map(
      (start) => ['a token of GitHub', of(start, `_${some(36)}`)] as [string, string],
    ),
    ['a token of GitHub', of('github', `_pat_${some(22)}_${some(59)}`)],
    ['a token of GitLab', of('glpat', `-${some(20)}`)],
    ['a token of Slack', of('xoxb', `-123456789012-${some(24)}`)],
    ['a webhook of Slack', of('https://hooks.slack', `.com/services/T0123/B0123/${some(24)}`)],
    ['a key of a model provider', of('sk', `-ant-api03-${some(95)}`)],
    ['a key of a model provider', of('sk', `-proj-${some(40)}`)],
    ['a key of a model provider', of('sk', `-${some(48)}`)],
    ['a key of Google', of('AI', `za${some(35)}`)],
    ['a token of npm', of('npm', `_${some(36)}`)],
    ['a key of SendGrid', of('SG', `.${some(22)}.${some(43)}`)],
    ['a key of Stripe', of('sk', `_live_${some(24)}`)],
    ['a key of Stripe', of('rk', `_live_${some(24)}`)],
    ['a secret of a webhook', of('whsec', `_${some(32)}`)],
    ['a signed token (JWT)', of('Bearer eyJ', `${some(30)}.eyJ${some(60)}.${some(43)}`)],
    ['a password in a URL', of('postgres://app:', 'x7Kp2mQz@db.example.com/app')],
    ['a token of Hugging Face', of('hf', `_${some(34)}`)],
    ['a private key', of('Private-', `Lines: 2\n${some(64)}\n${some(20)}`)],
    ['a token of Discord', of('MTIz', `NDU2Nzg5MDEyMzQ1Njc4.${some(6)}.${some(38)}`)],
    ['a key of a model provider', of('gsk', `_${some(52)}`)],
    ['a key of a model provider', of('xai', `-${some(80)}`)],
    ['a key of RubyGems', of('rubygems', `_${hex(48)}`)],
    ['a token of Square', of('sq0', `atp-${some(22)}`)],
    ...['at', 'ca', 'pa', 'ss'].map(
      (kind) => ['a token of Shopify', of('shp', `${kind}_${hex(32)}`)] as [string, string],
    ),
    ['a key of Twilio', of('SK', hex(32))],
    ['a key of Mailgun', of('key', `-${hex(32)}`)],
    ['a token of Figma', of('figd', `_${some(40)}`)],
    ['a token of Supabase', of('sbp', `_${hex(40)}`)],
    ['a token of Databricks', of('dapi', hex(32))],
    ['a key of Postman', of('PMAK', `-${hex(24)}-${hex(34)}`)],
    ['a token of Doppler', of('dp', `.pt.${some(43)}`)],
    ['a key of New Relic', of('NRAK', `-${some(27).toUpperCase()}`)],
    ['a token of Grafana', of('glsa', `_${some(32)}_${hex(8)}`)],
    ['a token of Grafana', of('glc', `_eyJ${some(60)}`)],
    ['a token of Terraform', of(some(14), `.atlasv1.${some(67)}`)],
    ['a token of npm', of('//npm.example.com/:_auth', `Token=${some(36)}`)],
    ['a password of netrc', of('machine a.example.com\n  login ada\n', `  password ${some(14)}`)],
    ['a password of Docker', of('{"auths":{"a.example.com":{"auth', `": "${some(24)}=="}}}`)],
    ['a header with a password', of('curl -H "Authoriz', `ation: Bearer ${some(30)}"`)],
    ['a header with a password', of('"authoriz', `ation": "Basic ${some(24)}=="`)],
    ['a password or token', of('DB_PASS', `WORD=${some(14)}`)],
    ['a password or token', of('"api', `-key": "${hex(24)}"`)],
    ['a token of GitHub', of('TOK', `EN=${GITHUB}`)],
    ['a token of GitHub', of('Authoriz', `ation: Bearer ${GITHUB}`)],
    ['a token of GitHub', GITHUB.replace('_', '\\_')],
    ['a token of Slack', of('xoxb', `\\-123456789012\\-${some(24)}`)],
    ['a token of GitHub', `TOKEN_${GITHUB}`],
    ['a token of GitHub', `"a\\n${GITHUB}"`],
    ['a token of GitHub', `?token%3D${GITHUB}`],
    ['an access key of AWS', `MY_${AWS}`],
  ]
  for (const [what, text] of secrets) {
    t.match(knownSecrets(`before ${text} after`), [{ what }], text.slice(0, 30))
  }
  const others = [
    'https://ci:$' +
      '{TOKEN}@example.com/ https://ci:password@example.com/ https://ci:***@example.com/',
    'postgres://postgres:postgres@db/app postgres://app:x7Kp2mQz@localhost:5432/app',
    'https://example.com:8080/@scope/package http://127.0.0.1:7878/case/1@2',
    of('AKI', 'AIOSFODNN7EXAMPLE'),
    of('ghp', `_${'x'.repeat(36)}`),
    'A file with -----BEGIN OPENSSH PRIVATE KEY----- is a key.',
    'task-force-one-more-very-long-kebab-case-name-of-a-thing risk_live_in_the_city_of_dreams_x',
    'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'password [redacted DATABASE_URL]',
    'Authorization: Bearer $' + '{TOKEN} Authorization: Bearer <your-token-of-2026-11-29>',
    '//npm.example.com/:_authToken=$' + '{NPM_TOKEN} _authToken = settings.registry.token',
    'The machine of Ada: login as root, password is in the safe of room 12-34-abc.',
    'token: readToken2From(3) secret = OAuth2ClientValue; api_key: the-key-of-2026-11-29-b',
    'password=$' + '{PASSWORD_2_OF_3} PASSWORD: <Password1And2> token=xxxxxxxxxxxxxxxx',
    '"auth": "authentication-required" "auth": "$TOKEN_OF_DOCKER_2"',
    `build-key-${hex(32)} task-ant-one-more-very-long-name-of-a-thing`,
    'TASK-ASIAN-MARKETS-OF-2026 Private-Lines: 14 are in a key of PuTTY',
  ]
  for (const text of others) t.strictSame(knownSecrets(text), [], text)
})

t.test('a secret stops a sync, until it is gone or said to be none', async (t) => {
  const dir = makeOrigin(t)
  const log: string[] = []
  process.env.SYNC_TEST_TOKEN = 'aB3-very-secret-value'
  t.teardown(() => {
    delete process.env.SYNC_TEST_TOKEN
  })
  const a = await openSyncedClone(t, { dir, name: 'a', log: (line) => log.push(line) })
  const { id } = await must(a, 'POST', '/cases', { title: 'Leaks' })
  await a.sync()
  const before = a.git('rev-parse', 'HEAD')
  const found = { state: 'stopped', code: 'secret_found', committed: null }

  await t.test('each place is named, and nothing of the secret', async (t) => {
    a.write(`# Notes\n\n${GITHUB}\nkey ${AWS}\n${KEY}\n`, 'cases', id, 'notes.md')
    a.write(`run with ${GITHUB}\ntoken: aB3-very-secret-value\n`, 'cases', id, 'more.md')
    const result = await a.sync()
    t.match(result, found)
    for (const where of [
      'more.md:1 contains what looks like a token of GitHub',
      'more.md:2 contains the value of SYNC_TEST_TOKEN',
      'notes.md:3 contains what looks like a token of GitHub',
      'notes.md:4 contains what looks like an access key of AWS',
      'notes.md:5 contains what looks like a private key',
    ]) {
      t.match(result.reason, `cases/${id}/${where}`)
    }
    t.match(result.reason, /\)\. Nothing was committed\. Remove it from the file/)
    t.match(await a.sync({ dry_run: true }), { code: 'secret_found', reason: result.reason })
    for (const secret of [GITHUB, AWS, some(20), 'aB3-very'])
      t.notMatch(result.reason! + log, secret)
    t.equal(a.git('rev-parse', 'HEAD'), before, 'nothing is committed')
    t.equal(a.git('status', '--porcelain', '--untracked-files=no'), '')
    a.write('# Notes\n', 'cases', id, 'notes.md')
    a.write(`run with ${GITHUB}\n`, 'cases', id, 'more.md')
  })

  await t.test('what is said to be none may leave, for everybody', async (t) => {
    const { reason } = await a.sync()
    const [, code] = /more\.md:1 [^(]*\(([0-9a-f]{12})\)\..* line of \.not-secrets\.$/.exec(
      reason!,
    )!
    a.write(`other ${AWS}\n`, 'cases', id, 'more.md')
    a.write(`# codes\n${code} a key of the tests\n`, '.not-secrets')
    t.match((await a.sync()).reason, /more\.md:1 contains what looks like an access key of AWS/)
    a.write(`run with ${GITHUB}\n`, 'cases', id, 'more.md')
    t.match(await a.sync(), { state: 'in_sync' })
    const b = await openSyncedClone(t, { dir, name: 'b' })
    b.write(`again ${GITHUB}\n`, 'cases', id, 'other.md')
    t.match(await b.sync(), { state: 'in_sync' })
    t.match(await a.sync(), { state: 'in_sync' })
  })

  await t.test('in a name and in any encoding', async (t) => {
    const token = of('ghp', `_${some(33)}xyz`)
    const utf16 = Buffer.from(`\uFEFFgrüße\nkey ${token}\n`, 'utf16le')
    const contents: [name: string, content: string | Buffer, said: string][] = [
      [`x-${token}.md`, 'x\n', '/x-….md contains what looks like a token of GitHub'],
      ['aB3-very-secret-value.md', 'x\n', '].md contains the value of SYNC_TEST_TOKEN'],
      ['le.md', utf16, '/le.md:2 contains'],
      ['be.md', Buffer.from(utf16).swap16(), '/be.md:2 contains'],
      ['latin.md', Buffer.from(`grüße\n\n${token}\n`, 'latin1'), '/latin.md:3 contains'],
    ]
    for (const [name, content] of contents) writeFileSync(a.path('cases', id, name), content)
    const { reason, ...stopped } = await a.sync()
    t.match(stopped, found)
    for (const [name, , said] of contents) t.match(reason, said, name)
    for (const secret of [token, 'aB3-very']) t.notMatch(reason, secret)
    for (const [name] of contents) rmSync(a.path('cases', id, name))
    const tokens = Array.from({ length: 27 }, (_, at) =>
      of('ghp', `_${String(at).padStart(2, '0')}${some(34)}`),
    )
    a.write(tokens.join('\n'), 'cases', id, 'many.md')
    t.match((await a.sync()).reason, /many\.md:5 [^;]*\(\w{12}\), and there are 22 more\. /)
    if (!isLong) return
    for (let at = 0; at < 400; at++) a.write(`${at}\n`, 'cases', id, `many-${at}.md`)
    a.write(token, 'cases', id, 'many.md')
    a.write(token, 'cases', id, 'z-last.md')
    t.match((await a.sync()).reason, /many\.md:1 .*z-last\.md:1 /s, 'among very many files')
  })
})

t.test('what others pushed is no finding, what an older commit has is', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'Leaks' })
  a.write(`one\n${GITHUB}\n`, 'cases', id, 'notes.md')
  a.git('add', '.')
  a.git('commit', '-qm', 'by hand')
  a.git('push', '-q')
  const b = await openSyncedClone(t, { dir, name: 'b' })
  b.write(`one\n${GITHUB}\ntwo\n`, 'cases', id, 'notes.md')
  t.match(await b.sync(), { state: 'in_sync' })
  renameSync(b.path('cases', id, 'notes.md'), b.path('cases', id, 'moved.md'))
  t.match(await b.sync(), { state: 'in_sync' })
  await a.sync()

  a.write(`${AWS}\n`, 'cases', id, 'key.md')
  a.git('add', '.')
  a.git('commit', '-qm', 'by hand')
  a.write('gone\n', 'cases', id, 'key.md')
  a.git('commit', '-qam', 'by hand')
  b.write('b\n', 'cases', id, 'b.md')
  await b.sync()
  const stopped = await a.sync()
  t.match(stopped, { code: 'secret_found', reason: /key\.md:1 .* an access key of AWS/ })
  const [, ...words] = / git -C \S+ (reset) (--soft) (\S+), /.exec(stopped.reason!)!
  a.git(...words)
  t.match(await a.sync(), { state: 'in_sync' }, 'as the reason says')
  const objects = a.git('rev-list', '--objects', 'origin/main').split('\n')
  const keys = objects.filter((line) => line.endsWith('key.md')).map((line) => line.split(' ')[0]!)
  t.strictSame(
    keys.map((key) => a.git('cat-file', 'blob', key)),
    ['gone\n'],
  )
  await b.sync()
  t.equal(a.tree(), b.tree())
})
