import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { FAKE_BIN, FAKED_AGENTS } from '../fixtures/agents/contract-subjects.ts'
import { inLongLane } from '../fixtures/full.ts'
import { filesBelow, pathsBelow } from '../fixtures/paths-below.ts'
import {
  agentFiles,
  committed,
  LIST_PLAN,
  type PlainAgent,
  plannedBy,
  plannedOn,
  says,
} from '../fixtures/plain-agents.ts'
import { finished, must, newSession, ran, reachesAgain, step } from '../fixtures/session-client.ts'
import { printedBy, recordOf } from '../fixtures/session-record.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const ACP_AGENT = fileURLToPath(new URL('../fixtures/agents/acp-agent.mjs', import.meta.url))
/** The agents have it in their scripts, as if they had read it anywhere. */
const SECRET = 'S3CRET-hunter2/"va+lue'
const PLAIN = 'S3CRET-simple-0123'
const SAID = '[redacted A_TOKEN]'

async function serviceWith(
  t: Test,
  agents: Record<string, PlainAgent>,
  { more = '', ...options }: { more?: string; mount?: boolean } = {},
): Promise<TestService> {
  const files = { ...agentFiles(agents, more), 'code.txt': 'one\n' }
  inEnvironment(t, { A_TOKEN: PLAIN, B_TOKEN: SECRET })
  const service = await openTestService(t, {
    mount: false,
    files,
    trust: true,
    dev: true,
    ...options,
  })
  committed(service.root)
  return service
}

function inEnvironment(t: Test, variables: Record<string, string>): void {
  const before = { ...process.env }
  Object.assign(process.env, variables)
  t.teardown(() => {
    for (const name of Object.keys(variables)) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  })
}

/** Every file of the records and of the state folder, and what the service logged. */
function mustBeClean(t: Test, service: TestService): void {
  let files = 0
  for (const folder of [service.memory, service.stateDir].filter(existsSync)) {
    for (const path of pathsBelow(folder)) t.notMatch(basename(path), /S3CRET/)
    for (const { path, bytes } of filesBelow(folder)) {
      files++
      if (/S3CRET-(?:simple|hunter)/.test(bytes.toString('latin1'))) t.fail(path)
    }
  }
  t.ok(files > 0)
  t.notMatch(service.log.join('\n'), /S3CRET-(?:simple|hunter)/)
}

t.test('what agents say and make, and what the operator writes', async (t) => {
  const fails = (script: string) => ({ plan: `${script} >&2; exit 9` })
  inEnvironment(t, { C_TOKEN: `Q7x&<y>"z'9` })
  const service = await serviceWith(t, {
    says: fails(`echo '${PLAIN} and ${SECRET}'`),
    cut: fails(`printf '%s%s' '${PLAIN}' "$(printf '%0260d' 0)"`),
    writes: { plan: `echo x > 'evil-${PLAIN}'; ${says(LIST_PLAN)}` },
    mine: { plan: says(LIST_PLAN) },
  })
  const reasons: [agent: string, reason: string | RegExp][] = [
    ['says', `exited with 9: ${SAID} and [redacted B_TOKEN]`],
    ['cut', /exited with 9/],
    ['writes', `these files changed: evil-${SAID}. `],
  ]
  for (const [agent, output] of reasons) {
    const { ref, session } = await plannedBy(service, agent)
    t.match(session, { state: 'failed', output }, agent)
    t.match(
      recordOf(service, ref),
      agent === 'writes' ? 'plan_violation working_folder=["evil-[' : 'reason="',
    )
  }

  const { id } = await service.newCase()
  const { ref } = await plannedOn(service, id, 'mine', { note: `first ${PLAIN}` })
  t.match(recordOf(service, ref), `note="first ${SAID}"`)
  await must(service, 'POST', `${ref.path}/revise`, { note: `again ${SECRET}` })
  await reachesAgain(service, ref, 'plan_ready')
  t.match(recordOf(service, ref), `reason="again [redacted B_TOKEN]"`)
  const abandoned = await newSession(service, ref.case_id)
  await must(service, 'POST', `${abandoned.path}/abandon`, { reason: `for ${PLAIN}` })
  t.match(recordOf(service, ref, 2), `reason="for ${SAID}"`)
  t.match(await must(service, 'GET', ref.path), { state: 'plan_ready', problems: { length: 0 } })
  mustBeClean(t, service)

  // a report that escapes it, in a plan that stays as the operator wrote it and is approved by its hash
  const name = 'with Q7x&amp;&lt;y&gt;&quot;z&#39;9'
  const xml = `<testsuite tests="1" failures="1"><testcase name="${name}"><failure><![CDATA[Q7x&<y>"z'9]]></failure></testcase></testsuite>`
  const tap = `not ok 1 - Q7x\\u0026\\u003cy\\u003e\\"z'9`
  const plan = step(
    `cat <<'END'\n${tap}\n${xml}\nEND\necho ${PLAIN}; exit 3`,
    'sh run id=test proof=test',
  )
  await must(service, 'PUT', `${ref.path}/plan`, { plan })
  const { session, events } = await finished(service, ref)
  t.match(session, { state: 'failed', plan, problems: { length: 0 } })
  t.match(session.output, `\n${SAID}\n`)
  t.match(JSON.stringify([session, events]), '[redacted C_TOKEN]')
  const recorded = JSON.stringify([
    { ...session, plan: '' },
    events.filter(({ event_type }) => !/plan/.test(event_type)),
  ])
  t.notMatch(recorded, /Q7x|z&#39;9|z'9/)
  for (const { path, bytes } of filesBelow(service.file(ref.case_id, 'artifacts')))
    if (!/plan/.test(path)) t.notMatch(bytes.toString(), /Q7x|z&#39;9|z'9/, path)
})

t.test('a command that is not there', async (t) => {
  const files = {
    'casefile.md': `---\nproviders:\n  gone: { kind: command, plan: [${PLAIN}x, a] }\n---\n`,
  }
  inEnvironment(t, { A_TOKEN: PLAIN })
  const service = await openTestService(t, { mount: false, files, trust: true, dev: true })
  const { id } = await service.newCase()
  const wanted = { type: 'implementing', provider: 'gone' }
  const refused = await service.request('POST', `/cases/${id}/sessions`, wanted)
  t.equal(refused.status, 422)
  t.match(refused.json.detail, `its program "${SAID}x" was not found on the PATH`)
  t.notMatch(refused.text, 'S3CRET')
  const run = await service.request('POST', '/providers/gone/run', { prompt: 'x' })
  t.equal(run.status, 422)
  t.notMatch(run.text, 'S3CRET')
  t.notMatch((await service.request('GET', '/providers')).text.replaceAll(`${SAID}x`, ''), 'S3CRET')
  mustBeClean(t, service)
})

t.test('the evidence, whose seal holds', async (t) => {
  const service = await serviceWith(t, {
    makes: {
      plan: says(LIST_PLAN),
      work: [
        `mkdir 'of-${PLAIN}'; echo '${PLAIN}' > 'of-${PLAIN}/made-${PLAIN}.txt'`,
        `echo 'k=${SECRET}' >> code.txt`,
        `printf 'S3CRET\\033[31m-simple-0123\\033[0m\\n'`,
        `echo '/${encodeURI(SECRET)}/ …'`,
      ].join('\n'),
    },
  })
  const { ref } = await plannedBy(service, 'makes')
  const { session, events } = await finished(service, ref)
  t.match(session, {
    state: 'complete',
    problems: { length: 0 },
    diff: { files: [{ file: 'code.txt' }, { file: `of-${SAID}/made-${SAID}.txt` }] },
  })
  t.match(session.output, `> ${SAID}\n> /[redacted B_TOKEN]/`)
  t.notMatch(
    events.filter(({ event_type }) => event_type !== 'session_output'),
    /S3CRET/,
  )
  const patch = readFileSync(service.file(ref.case_id, 'artifacts', '1-changes.patch'), 'utf8')
  t.match(patch, `+k=[redacted B_TOKEN]`)
  t.match(patch, `made-${SAID}.txt`)
  const raw = readFileSync(service.file(ref.case_id, 'artifacts', '1-agent.log'), 'utf8')
  t.match(raw, 'S3CRET\x1b[31m', 'as it was printed')
  await service.restart()
  mustBeClean(t, service)
  const again = await must(service, 'GET', ref.path)
  t.strictSame(again.problems, [], 'no session_changed')
})

t.test('what the program of an agent itself sent', inLongLane, async (t) => {
  const acp = JSON.stringify([process.execPath, ACP_AGENT, 'prints-secret', 'A_TOKEN'])
  const files = {
    'casefile.md': `---\nenv: [A_TOKEN]\nproviders:\n  mine: { kind: acp, command: ${acp}, plan_mode: plan, work_mode: code }\n---\n`,
  }
  // a login, without which no session begins with the fake of Gemini
  const GEMINI_API_KEY = 'of-the-fake'
  inEnvironment(t, { A_TOKEN: PLAIN, PATH: `${FAKE_BIN}:${process.env.PATH}`, GEMINI_API_KEY })
  const service = await openTestService(t, { mount: false, files, trust: true })
  for (const provider of [...FAKED_AGENTS.map(({ id }) => id), 'mine']) {
    await t.test(provider, async (t) => {
      const description = '[[fake prints-secret A_TOKEN]]'
      const { ref, session: planned } = await plannedBy(service, provider, { description })
      t.equal(planned.state, 'plan_ready')
      const { session, events } = await finished(service, ref)
      t.equal(session.state, 'complete')
      t.match(JSON.stringify([session, events]), SAID)
      for (const name of ['1-plan-agent.raw.jsonl', '1-agent.raw.jsonl']) {
        const raw = readFileSync(service.file(ref.case_id, 'artifacts', name), 'utf8')
        t.match(raw, `The secret is ${SAID}.`, name)
        for (const line of raw.trimEnd().split('\n')) t.doesNotThrow(() => JSON.parse(line))
      }
    })
  }
  mustBeClean(t, service)
})

t.test('a secret that is a word of the trail', inLongLane, async (t) => {
  inEnvironment(t, { A_PASSWORD: 'runbook', B_PASSWORD: 'plan_ready', C_PASSWORD: 'complete' })
  const service = await openTestService(t, { mount: false })
  const { ref, session } = await ran(service, step('echo is complete'))
  t.match(session, { state: 'complete', provider: 'runbook', problems: { length: 0 } })
  t.match(printedBy(service, ref), 'is [redacted C_PASSWORD]')
})

t.test('a run of a provider for no session', async (t) => {
  inEnvironment(t, { A_TOKEN: PLAIN })
  const agents = {
    fails: `echo '${PLAIN}' >&2; exit 9`,
    says: `printf 'S3CRET\\033[1m-simple-0123\\n'; ${says(LIST_PLAN)}`,
  }
  const lines = Object.entries(agents).map(
    ([name, script]) =>
      `  ${name}: { kind: command, plan: [/bin/sh, -c, ${JSON.stringify(script)}] }\n`,
  )
  const files = { 'casefile.md': `---\nproviders:\n${lines.join('')}---\n` }
  const service = await openTestService(t, { mount: false, files, trust: true, dev: true })
  const failed = await service.request('POST', '/providers/fails/run', { prompt: 'x' })
  t.equal(failed.status, 502)
  t.match(failed.json.detail, `exited with 9: ${SAID}`)
  const accept = { accept: 'text/event-stream' }
  const published = await service.request('POST', '/providers/fails/run', { prompt: 'x' }, accept)
  t.match(published.text, /event: error/)
  t.notMatch(published.text, 'S3CRET')
  const said = await service.request('POST', '/providers/says/run', { prompt: 'x' })
  t.equal(said.status, 200)
  t.notMatch(said.text, 'S3CRET')
  mustBeClean(t, service)
})
