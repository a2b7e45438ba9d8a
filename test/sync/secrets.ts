import { renameSync } from 'node:fs'
import t from 'tap'
import { knownSecrets } from '../../src/sync/known-secrets.ts'
import { commandsOn } from '../fixtures/cli.ts'
import { must } from '../fixtures/session-client.ts'
import { makeOrigin, openSyncedClone } from '../fixtures/synced-clones.ts'

/** In parts, or sites that look for secrets would find these. */
const of = (...parts: string[]) => parts.join('')
const some = (length: number) =>
  'aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW'.repeat(1 + length / 20).slice(0, length)
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
  ]
  for (const text of others) t.strictSame(knownSecrets(text), [], text)
})

t.test('a secret stops a sync, until it is gone or said to be none', async (t) => {
  const dir = makeOrigin(t)
  const log: string[] = []
  const a = await openSyncedClone(t, { dir, name: 'a', log: (line) => log.push(line) })
  const { id } = await must(a, 'POST', '/cases', { title: 'Leaks' })
  await a.sync()
  const before = a.git('rev-parse', 'HEAD')
  a.write(`# Notes\n\n${GITHUB}\nkey ${AWS}\n${KEY}\n`, 'cases', id, 'notes.md')
  a.write(`run with ${GITHUB}\n`, 'cases', id, 'more.md')
  const cli = commandsOn(t, { root: a.root, env: { CASEFILE_STATE_DIR: a.stateDir } })
  for (const args of [['sync'], ['sync', '--dry-run'], ['sync', '--json']]) {
    const { code, stdout, stderr } = await cli.run(...args)
    t.equal(code, 2, args.join(' '))
    const said = stdout.replace(/\s+/g, ' ')
    for (const where of [
      'more.md:1 contains what looks like a token of GitHub',
      'notes.md:3 contains what looks like a token of GitHub',
      'notes.md:4 contains what looks like an access key of AWS',
      'notes.md:5 contains what looks like a private key',
    ]) {
      t.match(said, `cases/${id}/${where}`)
    }
    for (const secret of [GITHUB, AWS, some(20)]) t.notMatch(stdout + stderr + log, secret)
  }
  t.equal(a.git('rev-parse', 'HEAD'), before, 'nothing is committed')
  t.equal(a.git('status', '--porcelain', '--untracked-files=no'), '')

  a.write('# Notes\n', 'cases', id, 'notes.md')
  const { reason } = await a.sync()
  const [, code] = /more\.md:1 [^(]*\(([0-9a-f]{12})\)\..* line of \.not-secrets\.$/.exec(reason!)!
  a.write(`${code} a key of the tests\n`, '.not-secrets')
  t.match(await a.sync(), { state: 'in_sync' })
  const b = await openSyncedClone(t, { dir, name: 'b' })
  b.write(`again ${GITHUB}\n`, 'cases', id, 'other.md')
  t.match(await b.sync(), { state: 'in_sync' }, 'for everybody')
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
