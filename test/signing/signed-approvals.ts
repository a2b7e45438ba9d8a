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
const makeKey = (name: string, type: string) => {
  const path = join(keys, name)
  execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-C', name, '-f', path])
  return path
}
const ada = makeKey('ada', 'ecdsa')
const eve = makeKey('eve', 'ed25519')
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

async function waiting(service: TestService, script = 'echo done') {
  const session = await planned(service, { runbook: step(script) })
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
    mount: false,
    files: {
      'casefile.md': `---\n${settings}provider: runbook\n---\n`,
      allowed_signers: `# who may approve\n${lineOf('ada@example.com', ada)}`,
    },
  })

t.test('a signed approval is recorded beside its session, and checked at each read', async (t) => {
  const service = await withSigners(t, 'sign_approvals: true\n')
  const { session, url, plan_sha256, approval, approve } = await waiting(service)
  const state = async () => (await must(service, 'GET', url)).signature
  const signers = join(service.root, 'allowed_signers')

  const unsigned = await approve({ plan_sha256 })
  const detail = /casefile approve /
  t.match(unsigned, { status: 422, json: { code: 'signature_required', detail } })
  const page = await service.request('GET', `/case/${session.case_id}/session/1`)
  t.match(page.text, /wants signed approvals/)
  const minutes = (count: number) => new Date(Date.now() + count * 60_000).toISOString()
  const good = sign(approval)
  const other = { ...approval, session_id: session.case_id }
  const bad: [name: string, signature: object, expected: RegExp][] = [
    ['of a key that is not allowed', sign(approval, { key: eve }), /not in allowed_signers/],
    ['of another session', sign(other), /does not match/],
    ['of another plan', sign({ ...approval, plan_sha256: '0'.repeat(64) }), /does not match/],
    ['of another namespace', sign(approval, { namespace: 'git' }), /does not match/],
    ['with another time', { ...good, signed_at: minutes(1) }, /does not match/],
    ['too old', sign(approval, { at: minutes(-11) }), /ten minutes/],
    ['of later', sign(approval, { at: minutes(11) }), /ten minutes/],
  ]
  for (const [name, signature, detail] of bad) {
    const reply = await approve({ plan_sha256, signature })
    t.match(reply, { status: 422, json: { code: 'bad_signature', detail } }, name)
  }
  t.match(await approve({ plan_sha256, signature: { ...good, ssh: 'x' } }), { status: 400 })
  t.equal((await must(service, 'GET', url)).state, 'plan_ready')

  const reply = await approve({ plan_sha256, signature: sign(approval, { at: minutes(-9) }) })
  t.equal(reply.status, 200, reply.text)
  await reaches(service, session, 'complete')
  const valid = { state: 'valid', signer: 'ada@example.com', key: /^SHA256:/, reason: null }
  t.match(await state(), valid)
  const file = service.file(session.case_id, `sessions/${session.id}.approval`)
  const checked = execFileSync(
    'ssh-keygen',
    [
      ...['-Y', 'verify', '-f', signers, '-I', 'ada@example.com'],
      ...['-n', 'casefile', '-s', `${file}.sig`],
    ],
    { input: readFileSync(file), encoding: 'utf8' },
  )
  t.match(checked, /^Good "casefile" signature for ada@example\.com/)
  t.strictSame((await must(service, 'GET', `/cases/${session.case_id}`)).problems, [])

  const statement = readFileSync(file, 'utf8')
  const plan = service.file(session.case_id, 'sessions/1.md')
  const text = readFileSync(plan, 'utf8')
  const unknown = { state: 'unknown_signer', signer: null, key: /^SHA256:/ }
  const invalid = (reason: RegExp) => ({ state: 'invalid', reason })
  const elsewhere = statement.replace(/session: .{8}/, 'session: 00000000')
  const changes: [path: string, text: string | null, expected: object][] = [
    [file, `${statement}more\n`, invalid(/cannot be read/)],
    [file, elsewhere, invalid(/another approval/)],
    [file, null, invalid(/missing/)],
    [file, statement, valid],
    [plan, text.replace('echo done', 'echo other'), invalid(/^The plan's text is not the one/)],
    [plan, text, valid],
    [signers, lineOf('eve@example.com', eve), unknown],
    [signers, lineOf('ada@example.com', ada, 'valid-before="20250101" '), unknown],
    [signers, null, unknown],
    [signers, lineOf('bob', ada, 'namespaces="casefile" '), { state: 'valid', signer: 'bob' }],
  ]
  for (const [path, text, expected] of changes) {
    if (text === null) rmSync(path)
    else writeFileSync(path, text)
    t.match(await state(), expected)
  }
  const older = sign(approval, { at: minutes(-30) })
  writeFileSync(file, approvalStatement({ ...approval, signed_at: older.signed_at }))
  writeFileSync(`${file}.sig`, older.ssh)
  t.match(await state(), invalid(/ten minutes/), 'one that was made before')
  rmSync(file)
  rmSync(`${file}.sig`)
  t.equal(await state(), null, 'without both files it is an approval without a signature')
})

t.test('a signed approval that leaves the line signs nothing any more', async (t) => {
  const service = await withSigners(t)
  git(service.root, 'init', '-q')
  const first = await planned(service, { runbook: step('sleep 60') })
  const { url, plan_sha256, approval, approve } = await waiting(service)
  await must(service, 'POST', `${first.path}/approve`)
  await reaches(service, first, 'executing')
  const signed = await approve({ plan_sha256, signature: sign(approval), queue: true })
  t.match(signed.json, { state: 'approved', queue: { position: 1 }, signature: { state: 'valid' } })
  t.match(await must(service, 'DELETE', `${url}/queue`), { state: 'plan_ready', signature: null })
  t.match((await approve({ plan_sha256, queue: true })).json, { signature: null })
  t.match(await must(service, 'GET', url), { state: 'approved', signature: null })
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

t.test('a rejected approval leaves the signature of another one', async (t) => {
  const service = await withSigners(t)
  const { session, url, plan_sha256: old, approval, approve } = await waiting(service, 'echo old')
  const late = { plan_sha256: old, signature: sign(approval) }
  const { isAsked, release } = slowSigning(t, old)
  const rejected = approve(late)
  for (let tries = 0; !isAsked() && tries < 1000; tries++) await delay(10)
  const { plan_sha256 } = await must(service, 'PUT', `${url}/plan`, { plan: step('echo new') })
  const signature = sign({ ...approval, plan_sha256 })
  const accepted = await approve({ plan_sha256, signature })
  t.equal(accepted.status, 200, accepted.text)
  await reaches(service, session, 'complete')
  release()
  t.ok((await rejected).status >= 400)
  const file = service.file(session.case_id, `sessions/${session.id}.approval`)
  t.equal(readFileSync(`${file}.sig`, 'utf8'), signature.ssh)
  t.match((await must(service, 'GET', url)).signature, { state: 'valid' })
})

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
