import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sha256 } from '../../src/markdown/session-file.ts'
import { isWithinStanding } from '../../src/runners/within-standing.ts'
import { bundledAcpAgent } from '../fixtures/agents/bundled-acp-agent.ts'
import { agentFiles, committed, plannedBy, reaches, says } from '../fixtures/plain-agents.ts'
import { finished, must, planned, step } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const ACP = `  acp: { kind: acp, command: ${JSON.stringify([process.execPath, bundledAcpAgent(), 'plain'])} }\n`
const FRONT = '---\npaths:\n  - src/**\n  - "*.md"\n---\n\n'

const STANDING = {
  paths: ['docs/**', '**/*.md', 'tool?'],
  commands: ['echo a'],
  proof: ['test -e docs/a'],
}

const page = async (service: TestService, { case_id }: { case_id: string }) =>
  (await service.request('GET', `/case/${case_id}/session/1`, undefined, { accept: 'text/html' }))
    .text

t.test('a runbook that changes files outside the scope of its plan', async (t) => {
  const files = { src: { a: 'a\n' }, other: 'other\n', gone: 'one\ntwo\nthree\nfour\n' }
  const service = await openTestService(t, { mount: false, files })
  committed(service.root)
  const script =
    'echo b > src/a; seq 100 > src/long; echo x > README.md; echo b > other; mkdir -p src; mv gone src/gone'
  const runbook = `${FRONT}${step(script, 'sh run id=write')}`
  const ref = await planned(service, { runbook })

  const waiting = await must(service, 'GET', ref.path)
  t.match(waiting, {
    plan: runbook.trim(),
    plan_sha256: sha256(waiting.plan),
    findings: { out_of_scope: [] },
  })
  const before = await page(service, ref)
  t.match(before, /id="plan-scope".*<dt>Paths.*<code>src\/\*\*<\/code>, <code>\*\.md<\/code>/s)
  t.match(
    before,
    /<pre[^>]*>(?:<[^>]+>)*paths:(?:<[^>]+>)*\n {2}(?:<[^>]+>)*-(?:<[^>]+>)* (?:<[^>]+>)*src/,
    'the frontmatter is rendered as code',
  )
  t.notMatch(before, /id="plan-hidden"/, 'the rendered plan shows everything')
  t.match(before, /id="step-write"/)

  const { session, events } = await finished(service, ref)
  t.match(session, {
    state: 'complete',
    plan: waiting.plan,
    findings: { out_of_scope: ['other', 'gone'] },
  })
  const names = session.diff.files.map(({ file }: { file: string }) => file)
  t.strictSame(names.slice(0, 2).sort(), ['other', 'src/gone'], 'first, though they are small')
  t.equal(session.diff.file, 'src/long')
  const types = events.map(({ event_type }) => event_type)
  t.ok(types.indexOf('out_of_scope') < types.indexOf('diff_taken'), 'first in the evidence')
  t.match(readFileSync(service.file(ref.case_id, 'sessions/1.md'), 'utf8'), /out_of_scope files=/)
  const after = await page(service, ref)
  t.match(after, /Session 1 is complete, but 2 files outside the scope changed\./)
  t.match(after, /id="out-of-scope".*<code>other<\/code>.*<code>gone<\/code>.*id="changes"/s)
  t.ok(after.indexOf('src/gone') < after.indexOf('src/long'))
  const changes = await service.request('GET', `/case/${ref.case_id}/session/1/changes`)
  t.match(changes.text, /Outside the scope.*other.*In the scope.*src/s)
  const [, id] = /id="diff-([0-9a-f]+)" data-file="src\/long"/.exec(changes.text) ?? []
  const one = await service.request('GET', `/case/${ref.case_id}/session/1/changes?file=${id}`)
  t.match(one.text, `id="diff-${id}-R100"`)
  t.notMatch(one.text, 'data-file="other"')
  const none = await service.request('GET', `/case/${ref.case_id}/session/1/changes?file=x`)
  t.equal(none.status, 404)
})

t.test('an ACP agent is denied what is outside', async (t) => {
  const settings = `---\nproviders:\n${ACP}---\n`
  const service = await openTestService(t, {
    mount: false,
    files: { 'casefile.md': settings },
    trust: true,
  })
  committed(service.root)
  const { ref, session } = await plannedBy(service, 'acp')
  const plan = `${session.plan}\n\n## Scope\n\n- paths: src/**\n`
  await must(service, 'PUT', `${ref.path}/plan`, { plan })
  const denied = await finished(service, ref)
  const reason = 'new.txt is outside the scope of the plan (paths: src/**)'
  t.match(denied.session, { findings: { refused: { work: 1, first: [{ tool: 'edit', reason }] } } })
  t.match(denied.session, { state: 'complete', findings: { out_of_scope: [] } })
  t.notOk(existsSync(join(service.root, 'new.txt')))
  t.notOk(denied.events.some(({ event_type }) => event_type === 'out_of_scope'))
})

t.test('a scope that cannot be read; a command agent is compared after its run', async (t) => {
  const planWith = (scope: string) =>
    `## Hypothesis\n\nIt is small.\n\n## Plan\n\n1. Fix it.\n\n### Scope\n\n- paths: ${scope}\n`
  const work = 'echo x > outside; echo done'
  const agents = agentFiles({ one: { plan: says(planWith('../x')), work } })
  const service = await openTestService(t, { mount: false, files: agents, trust: true })
  committed(service.root)
  const { ref, session } = await plannedBy(service, 'one')
  const message = 'paths: "../x": expected a path inside the working folder'
  t.match(session.problems, [{ code: 'invalid_plan', message: `line 5 of the plan: ${message}` }])
  const trail = readFileSync(service.file(ref.case_id, 'sessions/1.md'), 'utf8')
  t.match(trail, /plan_written .*scope_unreadable=\{"line":5,"message":"paths: /)
  const approved = await service.request('POST', `${ref.path}/approve`)
  t.match(approved, { status: 422, json: { code: 'invalid_plan' } })
  const saved = await service.request('PUT', `${ref.path}/plan`, {
    plan: '---\ncommands: [npm test; rm x]\n---\nDo it.\n',
  })
  t.match(saved, {
    status: 422,
    json: { errors: [{ path: 'plan line 2', message: /one command/ }] },
  })
  const plan = planWith('src/').trim()
  await must(service, 'PUT', `${ref.path}/plan`, { plan })
  t.match(await must(service, 'GET', ref.path), { plan, plan_sha256: sha256(plan), problems: [] })
  const { session: ended } = await finished(service, ref)
  t.match(ended, {
    state: 'complete',
    findings: { out_of_scope: ['outside'] },
    diff: { file: 'outside' },
  })
})

t.test('an intent is a plan like any other, without a run that plans', async (t) => {
  const work = 'echo b > src/a; echo x > other; echo done'
  const agents = agentFiles({ one: { plan: 'touch planned; exit 1', work } })
  const files = { ...agents, src: { a: 'a\n' } }
  const service = await openTestService(t, { mount: false, files, trust: true })
  committed(service.root)
  const { id: case_id } = await must(service, 'POST', '/cases', { title: 'A case' })
  const sessions = `/cases/${case_id}/sessions`
  const intent = {
    intent: 'Make it  bigger.',
    paths: ['src/**'],
    proof: ['grep -q b src/a', 'test -e src/*'],
    provider: 'one',
  }
  const wrong: [object, RegExp][] = [
    [{ paths: ['../x'] }, /paths: "\.\.\/x": expected a path inside the working folder/],
    [{ paths: ['docs/{.,x}./**'] }, /expected a path inside the working folder/],
    [{ proof: ['true \u202e'] }, /proof: "true \\+u\{202e\}": characters that are hidden/],
    [{ commands: ['a | b'] }, /one command, without ;.*write each one as an entry/],
    [{ proof: ['a && b'] }, /proof: "a && b": expected one command/],
    [{ proof: [''] }, /proof/],
    [{ paths: [], proof: [] }, /the intent allows nothing: name paths or commands/],
    [{ intent: '# Do it' }, /an intent is one sentence below its frontmatter/],
    [{ provider: 'runbook' }, /Only an agent can/],
    [{ intent: undefined }, /in one sentence|expected one of/],
    [{ again: case_id }, /an intent is not planned/],
    [{ plan: 'x' }, /plan: .*no plan: .intent. is the plan/],
  ]
  for (const [fields, message] of wrong) {
    const { status, text } = await service.request('POST', sessions, { ...intent, ...fields })
    t.ok(status === 400 || status === 422, String(status))
    t.match(text.replaceAll('\\"', '"'), message)
  }
  t.strictSame(await must(service, 'GET', sessions), [], 'no session remains of them')

  const made = await service.request('POST', sessions, intent)
  const plan =
    '---\npaths:\n  - "src/**"\ncommands: []\nproof:\n  - grep -q b src/a\n  - "test -e src/*"\n---\n\nMake it bigger.'
  t.match(made, { status: 201, json: { state: 'plan_ready', type: 'implementing', plan } })
  const ref = { case_id, id: made.json.id, path: `${sessions}/${made.json.id}` }
  t.match(made.json, { plan_sha256: sha256(plan), usage: [], problems: [] })
  t.match(await must(service, 'GET', `/cases/${case_id}`), { state: 'PLANNING' })
  const { plans } = await must(service, 'GET', `${ref.path}/approval?plans=true`)
  t.match(plans, [{ by: 'request', text: plan }])
  const shown = await page(service, ref)
  t.match(shown, /id="plan-scope".*src\/\*\*.*<dt>Commands of an agent/s)
  t.match(shown, /one will carry out this plan.*2 checks: proof-1, proof-2/s)

  const changed = { plan: plan.replace('bigger', 'smaller') }
  await must(service, 'PUT', `${ref.path}/plan`, changed)
  const old = await service.request('POST', `${ref.path}/approve`, { plan_sha256: sha256(plan) })
  t.match(old, { status: 409, json: { code: 'plan_changed' } }, 'other bytes than these')
  await must(service, 'PUT', `${ref.path}/plan`, { plan })
  const { session, events } = await finished(service, ref)
  t.match(session, { state: 'complete', findings: { out_of_scope: ['other'] }, plan })
  t.notOk(existsSync(join(service.root, 'planned')), 'no agent planned')
  const types = events.map(({ event_type }) => event_type)
  t.ok(types.indexOf('out_of_scope') < types.indexOf('diff_taken'), 'first in the evidence')
  const left = session.candidates.map(({ artifact }: { artifact: string }) => artifact)
  t.match(left.join(), /1-proof-1.log,1-proof-2.log,1-changes.patch/)
  const ran = events.filter(({ event_type }) => event_type === 'step_started')
  const proved = ran.filter(({ payload }) => /^proof/.test(payload.step))
  t.equal(proved.length, 2, 'each ran once')
})

t.test('an intent that allows more than the standing one is not within it', (t) => {
  const intent = { intent: 'Do it.', paths: ['docs/a*'], commands: [], proof: ['test -e docs/a'] }
  for (const wider of [
    { paths: ['docs/**', 'src/a'] },
    { paths: ['**'] },
    { paths: ['doc*/**'] },
    { paths: ['{docs,src}/**'] },
    { paths: ['docs{,2}/a'] },
    { paths: ['README'] },
    { paths: ['tool1'] },
    { commands: ['echo a b'] },
    { commands: ['echo'] },
    { proof: ['test -e docs/a', 'true'] },
    { proof: [] },
  ])
    t.notOk(isWithinStanding({ ...intent, ...wider }, STANDING), JSON.stringify(wider))
  const paths = ['docs', './docs/x/', 'docs/{a,b}', '{docs/x,docs}/{c,d}', 'README.md', 'src/*.md']
  t.ok(isWithinStanding({ ...intent, paths, commands: ['echo a'] }, STANDING))
  t.end()
})

t.test('an intent within a standing intent is approved by it', async (t) => {
  const work = 'mkdir -p docs; echo b > docs/a; echo x > docs/.envrc; echo done'
  const agents = { one: { plan: 'exit 1', work }, two: { plan: 'exec sleep 100' } }
  const files = agentFiles(agents, `standing: [${JSON.stringify(STANDING)}]\n`)
  const service = await openTestService(t, { mount: false, files, trust: true })
  committed(service.root)
  const { id: case_id } = await must(service, 'POST', '/cases', { title: 'A case' })
  const sessions = `/cases/${case_id}/sessions`
  const within = {
    intent: 'Do it.',
    provider: 'one',
    paths: ['docs/a*'],
    proof: ['test -e docs/a'],
  }
  const wider = { ...within, paths: ['docs/**', 'src/a'] }
  const waits = await must(service, 'POST', sessions, wider)
  t.match(waits, { state: 'plan_ready' })
  await must(service, 'POST', `${sessions}/${waits.id}/abandon`)
  const running = await must(service, 'POST', sessions, { type: 'investigating', provider: 'two' })
  const unsure = await must(service, 'POST', sessions, within)
  t.match(unsure, { state: 'plan_ready' }, 'an agent that runs may have sent it')
  for (const { id } of [unsure, running]) await must(service, 'POST', `${sessions}/${id}/abandon`)
  const paths = ['docs'] // with docs/.envrc, were it not hidden
  const made = await must(service, 'POST', sessions, { ...within, paths, commands: ['echo a'] })
  const ref = { case_id, id: made.id, path: `${sessions}/${made.id}` }
  t.match(made, { state: /approved|executing/ })
  await reaches(service, ref, 'complete')
  const session = await must(service, 'GET', ref.path)
  t.match(session, { findings: { out_of_scope: ['docs/.envrc'] }, state: 'complete' })
  const trail = readFileSync(service.file(case_id, `sessions/${made.number}.md`), 'utf8')
  t.match(trail, /plan_approved by=casefile.md .*approved_by=standing standing_sha256=[0-9a-f]{64}/)
  t.match(await must(service, 'GET', `/cases/${case_id}/gate`), { open: false }, 'of no proof')
})
