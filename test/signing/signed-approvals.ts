import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { approvalStatement } from '../../src/model/approval-statement.ts'
import { addSigner, signerAdvice } from '../../src/signing/allowed-signers.ts'
import { git, must, planned, reaches, step } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const keys = t.testdir({})
const makeKey = (name: string, type = 'ed25519') => {
  const path = join(keys, name)
  execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-C', name, '-f', path])
  return path
}
const ada = makeKey('ada')
const eve = makeKey('eve')
const lineOf = (who: string, key: string, options = '') =>
  `${who} ${options}${readFileSync(`${key}.pub`, 'utf8').split(' ').slice(0, 2).join(' ')}\n`

interface Signed {
  signed_at: string
  ssh: string
}

function sign(
  approval: { case_id: string; session_id: string; plan_sha256: string },
  { key = ada, at = new Date().toISOString(), namespace = 'casefile' } = {},
): Signed {
  const file = join(keys, 'statement')
  rmSync(`${file}.sig`, { force: true })
  writeFileSync(file, approvalStatement({ ...approval, signed_at: at }))
  execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', namespace, '-f', key, file], {
    stdio: 'ignore',
  })
  return { signed_at: at, ssh: readFileSync(`${file}.sig`, 'utf8') }
}

async function waiting(service: TestService) {
  const session = await planned(service, { runbook: step('echo done') })
  const { case_id, id: session_id, path: url } = session
  const { plan_sha256 } = (await service.request('GET', url)).json
  return {
    session,
    url,
    plan_sha256,
    approval: { case_id, session_id, plan_sha256 },
    approve: (body: object) => service.request('POST', `${url}/approve`, body),
  }
}

const withSigners = (t: Test, settings = '') =>
  openTestService(t, {
    files: {
      'casefile.md': `---\n${settings}provider: runbook\n---\n`,
      allowed_signers: `# who may approve\n${lineOf('ada@example.com', ada)}`,
    },
  })

t.test(
  'a signed approval is recorded beside its session, and ssh-keygen verifies it',
  async (t) => {
    const service = await withSigners(t)
    const { session, url, plan_sha256, approval, approve } = await waiting(service)
    const { case_id: id } = session
    const reply = await approve({ plan_sha256, signature: sign(approval) })
    t.equal(reply.status, 200, reply.text)
    await reaches(service, session, 'complete')
    const { signature } = (await service.request('GET', url)).json
    t.match(signature, { state: 'valid', signer: 'ada@example.com', key: /^SHA256:/, reason: null })
    const file = service.file(id, `sessions/${session.id}.approval`)
    const checked = execFileSync(
      'ssh-keygen',
      [
        ...['-Y', 'verify', '-f', join(service.root, 'allowed_signers'), '-I', 'ada@example.com'],
        ...['-n', 'casefile', '-s', `${file}.sig`],
      ],
      { input: readFileSync(file), encoding: 'utf8' },
    )
    t.match(checked, /^Good "casefile" signature for ada@example\.com/)
    t.strictSame((await service.request('GET', `/cases/${id}`)).json.problems, [])
  },
)

t.test('an approval without a signature stays possible, and is shown as such', async (t) => {
  const service = await withSigners(t)
  const { session, url, plan_sha256, approve } = await waiting(service)
  t.equal((await approve({ plan_sha256 })).status, 200)
  await reaches(service, session, 'complete')
  t.equal((await service.request('GET', url)).json.signature, null)
})

t.test('sign_approvals asks for a signature', async (t) => {
  const service = await withSigners(t, 'sign_approvals: true\n')
  const { session, url, plan_sha256, approval, approve } = await waiting(service)
  const reply = await approve({ plan_sha256 })
  t.match(reply, { status: 422, json: { code: 'signature_required', detail: /casefile approve / } })
  t.equal((await service.request('GET', url)).json.state, 'plan_ready')
  const page = await service.request('GET', `/case/${session.case_id}/session/1`)
  t.match(page.text, /wants signed approvals/)
  t.equal((await approve({ plan_sha256, signature: sign(approval) })).status, 200)
  await reaches(service, session, 'complete')
})

t.test('a signed approval that leaves the line signs nothing any more', async (t) => {
  const service = await withSigners(t)
  git(service.root, 'init', '-q')
  writeFileSync(join(service.root, '.git/info/exclude'), 'go\n')
  const first = await planned(service, { runbook: step('until test -e go; do sleep 0.02; done') })
  const { session, url, plan_sha256, approval, approve } = await waiting(service)
  await must(service, 'POST', `${first.path}/approve`)
  await reaches(service, first, 'executing')
  const signed = await approve({ plan_sha256, signature: sign(approval), queue: true })
  t.match(signed.json, { state: 'approved', queue: { position: 1 }, signature: { state: 'valid' } })
  t.match(await must(service, 'DELETE', `${url}/queue`), { state: 'plan_ready', signature: null })
  t.match((await approve({ plan_sha256, queue: true })).json, { signature: null })
  writeFileSync(join(service.root, 'go'), '')
  await reaches(service, session, 'complete')
  t.equal((await service.request('GET', url)).json.signature, null)
})

t.test('a signature that does not fit is rejected, and nothing runs', async (t) => {
  const service = await withSigners(t)
  const { url, plan_sha256, approval, approve } = await waiting(service)
  const other = await waiting(service)
  const old = new Date(Date.now() - 11 * 60_000).toISOString()
  const good = sign(approval)
  const bad: [name: string, signature: object, expected: RegExp][] = [
    ['of a key that is not allowed', sign(approval, { key: eve }), /not in allowed_signers/],
    ['of another session', sign(other.approval), /does not match/],
    ['of another plan', sign({ ...approval, plan_sha256: '0'.repeat(64) }), /does not match/],
    ['of another namespace', sign(approval, { namespace: 'git' }), /does not match/],
    ['with another time', { ...good, signed_at: new Date(1e12).toISOString() }, /ten minutes/],
    ['too old', sign(approval, { at: old }), /ten minutes/],
  ]
  for (const [name, signature, expected] of bad) {
    t.test(name, async (t) => {
      const reply = await approve({ plan_sha256, signature })
      t.match(reply, { status: 422, json: { code: 'bad_signature', detail: expected } })
      t.equal((await service.request('GET', url)).json.state, 'plan_ready')
    })
  }
  t.match(await approve({ plan_sha256, signature: { ...good, ssh: 'x' } }), { status: 400 })
})

t.test('what was signed is checked again at each read', async (t) => {
  const service = await withSigners(t)
  const one = await waiting(service)
  await one.approve({ plan_sha256: one.plan_sha256, signature: sign(one.approval) })
  await reaches(service, one.session, 'complete')
  const file = service.file(one.session.case_id, `sessions/${one.session.id}.approval`)
  const state = async () => (await service.request('GET', one.url)).json.signature
  const statement = readFileSync(file)
  const plan = service.file(one.session.case_id, 'sessions/1.md')
  const planText = readFileSync(plan, 'utf8')
  const changes: [name: string, change: () => void, expected: object][] = [
    [
      'the statement was changed',
      () => writeFileSync(file, `${statement}more\n`),
      { state: 'invalid', reason: /cannot be read/ },
    ],
    [
      'it is for another session',
      () => writeFileSync(file, statement.toString().replace(/session: .{8}/, 'session: 00000000')),
      { state: 'invalid', reason: /another approval/ },
    ],
    ['the statement is gone', () => rmSync(file), { state: 'invalid', reason: /missing/ }],
    ['all is as it was', () => writeFileSync(file, statement), { state: 'valid' }],
    [
      "the plan's text was changed",
      () => writeFileSync(plan, planText.replace('echo done', 'echo other')),
      { state: 'invalid', reason: /^The plan's text is not the one that was signed/ },
    ],
    ['the text is as it was', () => writeFileSync(plan, planText), { state: 'valid' }],
    [
      'the key is no longer allowed',
      () => writeFileSync(join(service.root, 'allowed_signers'), lineOf('eve@example.com', eve)),
      { state: 'unknown_signer', signer: null, key: /^SHA256:/ },
    ],
    [
      'the key was allowed at that time only',
      () =>
        writeFileSync(
          join(service.root, 'allowed_signers'),
          lineOf('ada@example.com', ada, 'valid-before="20250101" '),
        ),
      { state: 'unknown_signer' },
    ],
    [
      'there are no signers',
      () => rmSync(join(service.root, 'allowed_signers')),
      { state: 'unknown_signer' },
    ],
  ]
  for (const [name, change, expected] of changes) {
    change()
    t.match(await state(), expected, name)
  }
  rmSync(file)
  rmSync(`${file}.sig`)
  t.equal(await state(), null, 'without both files it is an approval without a signature')
  t.notOk(existsSync(file))
})

/** From now on, checking a statement with this hash waits until it is released. */
function slowSigning(t: Test, hash: string) {
  const folder = mkdtempSync(join(keys, 'slow-'))
  const find = ['-c', 'command -v ssh-keygen']
  const real = execFileSync('sh', find, { encoding: 'utf8' }).trim()
  const [bin, asked, released] = ['bin', 'asked', 'released'].map((name) => join(folder, name))
  mkdirSync(bin!)
  const script = `#!/bin/sh
statement=$(mktemp ${folder}/statement.XXXXXX)
cat > "$statement"
if grep -q ${hash} "$statement"; then
  touch ${asked}
  while [ ! -e ${released} ]; do sleep 0.02; done
fi
exec ${real} "$@" < "$statement"
`
  writeFileSync(join(bin!, 'ssh-keygen'), script, { mode: 0o755 })
  const { PATH } = process.env
  process.env.PATH = `${bin}:${PATH}`
  t.teardown(() => {
    process.env.PATH = PATH
  })
  return {
    isAsked: () => existsSync(asked!),
    release: () => writeFileSync(released!, ''),
  }
}

for (const isPlanOld of [true, false]) {
  const when = isPlanOld ? 'before the plan was changed' : 'afterwards'
  t.test(`a rejected approval leaves the signature of another one: sent ${when}`, async (t) => {
    const service = await withSigners(t)
    const { session, url, plan_sha256: old, approval, approve } = await waiting(service)
    const late = { plan_sha256: old, signature: sign(approval) }
    const { isAsked, release } = slowSigning(t, old)
    const change = async () => {
      const { plan_sha256 } = await must(service, 'PUT', `${url}/plan`, { plan: step('echo new') })
      return { plan_sha256, signature: sign({ ...approval, plan_sha256 }) }
    }
    const before = isPlanOld ? null : await change()
    const rejected = approve(late)
    for (let tries = 0; !isAsked() && tries < 1000; tries++) await delay(10)
    const accepted = await approve(before ?? (await change()))
    t.equal(accepted.status, 200, accepted.text)
    if (isPlanOld) await reaches(service, session, 'complete')
    const file = service.file(session.case_id, `sessions/${session.id}.approval`)
    const files = () => [file, `${file}.sig`].map((path) => readFileSync(path, 'utf8'))
    const stored = files()
    release()
    t.ok((await rejected).status >= 400)
    t.strictSame(files(), stored)
    await reaches(service, session, 'complete')
    t.match((await service.request('GET', url)).json.signature, { state: 'valid' })
  })
}
t.test('a key that is allowed for another time gets no second line', async (t) => {
  const own = `ada ${readFileSync(`${ada}.pub`, 'utf8').split(' ').slice(0, 2).join(' ')}`
  const limits: [limit: string, expected: RegExp | boolean][] = [
    ['valid-before="20250101" ', /is in allowed_signers \(line 2\), but it expired/],
    ['namespaces="casefile",valid-before=20250101Z ', /expired.*Nothing was added/],
    ['valid-after="29990101" ', /does not count yet/],
    ['valid-before="29990101" ', false],
    ['namespaces="git" ', true],
  ]
  for (const [limit, expected] of limits) {
    const root = t.testdir({ allowed_signers: `# keys\n${lineOf('ada@example.com', ada, limit)}` })
    const before = readFileSync(join(root, 'allowed_signers'), 'utf8')
    const added = addSigner(root, own)
    if (typeof expected === 'boolean') t.equal(await added, expected, limit)
    else {
      await t.rejects(added, { code: 'bad_request', message: expected }, limit)
      t.match(await signerAdvice(root, own), expected)
    }
    const after = readFileSync(join(root, 'allowed_signers'), 'utf8')
    t.equal(after, expected === true ? `${before}${own}\n` : before)
  }
})

for (const type of ['ecdsa']) {
  t.test(`a key of the kind ${type} signs too`, async (t) => {
    const key = makeKey(type, type)
    const service = await withSigners(t)
    const signers = lineOf('bob', key, 'namespaces="casefile" ')
    writeFileSync(join(service.root, 'allowed_signers'), signers)
    const { session, url, plan_sha256, approval, approve } = await waiting(service)
    const reply = await approve({ plan_sha256, signature: sign(approval, { key }) })
    t.equal(reply.status, 200, reply.text)
    await reaches(service, session, 'complete')
    t.match((await service.request('GET', url)).json.signature, { state: 'valid', signer: 'bob' })
  })
}
