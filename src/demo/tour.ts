import type { Body, Client } from '../client/client.ts'
import { errorFrom } from '../client/problem.ts'
import type { ReceivedEvent } from '../client/session-stream.ts'
import { AppError } from '../model/app-error.ts'
import { readTap } from '../runners/reports/tap.ts'
import type { Narrator } from './narrator.ts'

interface TourDeps {
  client: Client
  narrator: Narrator
  /** The text of the plan, from the sample. */
  runbook: string
  /** Runs a command in the workspace and returns its standard output, whatever its exit code. */
  run(program: string, ...args: string[]): Promise<string>
  /** The files written in the workspace since the last call. */
  written(): Promise<string[]>
  approve(question: string): Promise<boolean>
}

const CASE = {
  title: 'Signed in, and signed out again at once',
  type: 'bug',
  description:
    'Every token counts as expired the moment it is issued: its time in seconds is compared with a\nclock in milliseconds.',
}

/** Plays the workflow over HTTP, from a bug to its proof, and narrates it. */
export async function tour(deps: TourDeps): Promise<void> {
  const { client, narrator, written } = deps
  /** Sends a request and prints it. */
  async function send(method: string, path: string, body: Body, status: number) {
    const answer = await client.rawRequest(method, path, { body })
    if (answer.status !== status) throw errorFrom(method, path, answer.status, answer.body)
    narrator.request(method, path, typeof body === 'string' ? undefined : body, status)
    return answer.body
  }

  narrator.chapter('A bug')
  narrator.say("Users are signed out right after they sign in. The program's own tests show it:")
  await showTests(deps)

  narrator.chapter('A case, and the proof it needs')
  const { id } = await send('POST', '/cases', CASE, 201)
  const item = { description: 'All tests pass', type: 'test-log', required: true }
  await send('POST', `/cases/${id}/proof/checklist`, item, 201)
  await send('PUT', `/cases/${id}/memory/runbook.md`, deps.runbook, 201)
  narrator.wrote(await written())

  narrator.chapter('A session makes a plan. Nothing runs yet')
  const session = await send('POST', `/cases/${id}/sessions`, { type: 'implementing' }, 201)
  const path = `/cases/${id}/sessions/${session.id}`
  const events = client.stream(`${path}/stream`)
  narrator.request('GET', `${path}/stream`, undefined, 200)
  await follow(narrator, events, 'plan_ready')
  const planned = (await client.request('GET', path)).body
  narrator.wrote(await written())
  narrator.say('', 'Hypothesis')
  narrator.quote(planned.hypothesis)
  narrator.say('Plan')
  narrator.quote(planned.plan)

  narrator.chapter('You decide')
  if (!(await deps.approve('   Approve this plan? [y/N] '))) {
    await send('POST', `${path}/abandon`, { reason: 'Not approved in the demo.' }, 200)
    narrator.wrote(await written())
    narrator.say('', 'Not approved, so nothing ran.')
    await events.return(undefined)
    return
  }
  await send('POST', `${path}/approve`, { plan_sha256: planned.plan_sha256 }, 200)
  await follow(narrator, events, null)
  const done = (await client.request('GET', path)).body
  narrator.wrote(await written())
  if (done.state !== 'complete') throw new AppError('internal', `The session is ${done.state}.`)

  narrator.chapter('The result')
  const { run, passed } = done.tests
  narrator.say(`state       ${done.state}`)
  narrator.say(`tests       ${passed} of ${run} passed, according to the TAP report`)
  narrator.say(`diff        ${done.diff.file}: +${done.diff.additions} -${done.diff.deletions}`)
  for (const { artifact, note } of done.candidates) {
    narrator.say(`candidate   ${artifact.padEnd(16)} ${note}`)
  }
  narrator.command('git diff')
  narrator.quote((await deps.run('git', '-c', 'color.ui=false', 'diff', '--no-ext-diff')).trimEnd())

  narrator.chapter('RESOLVED needs verified proof')
  const gateError = await send('PUT', `/cases/${id}/state`, { state: 'RESOLVED' }, 422)
  for (const missing of gateError.missing) narrator.say(`missing: ${missing}`)
  const report = { type: 'test-log', artifact: '1-test.tap' }
  const proof = await send('POST', `/cases/${id}/proof`, report, 201)
  await send('PUT', `/cases/${id}/proof/${proof.id}/verify`, undefined, 200)
  await send('PUT', `/cases/${id}/state`, { state: 'RESOLVED', outcome: 'ConfirmedCodeBug' }, 200)
  narrator.wrote(await written())

  narrator.chapter('What remains: the fixed program, and a record that anyone can read')
  narrator.command('npm test')
  await showTests(deps)
  for (const args of [
    ['diff', '--stat'],
    ['status', '--short'],
  ]) {
    narrator.command(`git ${args.join(' ')}`)
    narrator.quote((await deps.run('git', '-c', 'color.ui=false', ...args)).trimEnd())
  }
}

/** Prints events until the session reaches this state, or until the stream ends if it is null. */
async function follow(
  narrator: Narrator,
  events: AsyncGenerator<ReceivedEvent>,
  until: string | null,
): Promise<void> {
  for (;;) {
    const { value: event, done } = await events.next()
    if (done) return
    narrator.event(event)
    if (until !== null && event.payload.new_state === until) return
  }
}

async function showTests({ narrator, run }: TourDeps): Promise<void> {
  const report = await run('npm', 'test', '--silent')
  const results = readTap(report)
  const failed = report.split('\n').filter((line) => line.startsWith('not ok'))
  if (failed.length > 0) narrator.quote(failed.join('\n'))
  narrator.say(
    results ? `${results.passed} of ${results.run} tests pass` : 'npm test printed no TAP',
  )
}
