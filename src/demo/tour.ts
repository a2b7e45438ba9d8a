import type { ApiReader } from '../client/client.ts'
import type { SessionJson } from '../http/schemas/session.ts'
import { AppError } from '../model/app-error.ts'
import { isPlanning } from '../model/session-state.ts'
import type { OutputView } from './command-output.ts'
import type { Narrator } from './narrator.ts'

/** A command of the tour that the person can also do in the browser. */
export interface Step {
  args: readonly string[]
  /** What to do in the browser instead; null if there is nothing. */
  browser: string | null
  /** The answer may be no. */
  isQuestion?: boolean
}

export interface TourDeps {
  client: ApiReader
  narrator: Narrator
  /** Runs a program in the workspace, prints what the view shows, and returns all that it printed. */
  run(command: readonly string[], view?: OutputView): Promise<{ code: number; text: string }>
  /** Prints a `casefile` command as a person would type it. */
  show(args: readonly string[]): void
  /** Runs a `casefile` command likewise. */
  casefile(args: readonly string[], view?: OutputView): Promise<{ code: number; text: string }>
  /** Opens the page of the case in the browser, if the person wants that. */
  openPage(caseId: string): void
  /** Shows a step and waits for the person; `elsewhere` if they did it in the browser. */
  wait(step: Step, isBegun: () => Promise<boolean>): Promise<'yes' | 'no' | 'elsewhere'>
  /** Polls until it is so. */
  until(isSo: () => Promise<boolean>): Promise<void>
}

interface Act extends Step {
  /** The person has begun it in the browser. */
  isBegun(now: Progress): boolean
  /** It has ended there. */
  isOver?(now: Progress): boolean
  view?: OutputView
  code?: number
  /** The command that shows the result of what was done in the browser, and what of it is shown. */
  instead?: { args: readonly string[]; view?: OutputView }
}

/** The case as it is. */
interface Progress {
  state: string
  sessions: SessionJson[]
  proofs: { verified: boolean }[]
}

const NAME = 'right after'
const TITLE = 'Signed out right after signing in'
const DESCRIPTION = 'Each token has expired as soon as it is issued.'
const COMMENT = 'Tokens keep seconds (RFC 7519). Convert the clock.'
const OUTCOME = 'ConfirmedCodeBug'

/** Plays the workflow, from a bug to its proof. Returns false if the person stopped a session. */
export async function tour(deps: TourDeps): Promise<boolean> {
  const { chapter, say } = deps.narrator
  const casefile: TourDeps['casefile'] = (args, view) => {
    deps.show(args)
    return deps.casefile(args, view)
  }

  chapter('A bug becomes a case')
  say('Users are signed out right after they sign in. The tests show it:')
  await runTests(deps)
  say('', 'Report it, and say what must prove that it is fixed.')
  const report = ['new', TITLE, '--type', 'bug', '--description', DESCRIPTION]
  const { text } = await casefile(report, { until: /^Next/ })
  const [id] = /\b[0-9a-f]{8}-[0-9a-f-]{27}\b/.exec(text) ?? []
  if (!id) throw new AppError('internal', `casefile new printed no id: ${text}`)
  await casefile(['item', NAME, 'All tests pass', '--type', 'test-log', '--required'])
  deps.openPage(id)

  const look = () => readProgress(deps.client, id)
  const play = (act: Act) => playAct(deps, look, act)

  chapter('An agent plans, and can change nothing yet')
  say('This agent is scripted: it has no model. Yours is Claude Code, Codex, Gemini …')
  await play({
    args: ['start', NAME],
    browser: 'choose New session, then Start.',
    view: { until: /^session 1 needs/ },
    isBegun: ({ sessions }) => sessions.length > 0,
    isOver: hasPlan(0),
    instead: { args: ['plan', NAME] },
  })
  const first = (await look()).sessions[0]!

  chapter('You do not like the plan, and say so on its first line')
  say('Milliseconds in the token? Other programs read it. Send the plan back.')
  const hasMoved = ({ sessions: [now] }: Progress) =>
    now!.state !== 'plan_ready' || now!.plan_sha256 !== first.plan_sha256
  await play({
    args: ['comment', NAME, '--line', '1', '-m', COMMENT],
    browser: 'choose Review the plan, click the + beside line 1, and comment.',
    isBegun: (now) => hasMoved(now) || now.sessions[0]!.comments.total > 0,
    view: { until: /^Next/ },
  })
  await play({
    args: ['revise', NAME],
    browser: 'choose Request changes.',
    view: { from: /^Plan/, until: /^scripted-agent will/, hide: isTestStep },
    isBegun: hasMoved,
    isOver: hasPlan(0),
    instead: { args: ['plan', NAME] },
  })

  chapter('You approve exactly this text, and the agent works')
  if (!(await approve(deps, look, play, 0))) return false
  let [newest] = (await look()).sessions.slice(-1)
  if (newest!.state === 'failed') {
    chapter('Two tests fail. The gate stays shut, and the agent plans again')
    say('"Fixed!" is not enough to resolve a case:')
    await casefile(['resolve', NAME, '--outcome', OUTCOME], { until: /^Next/ })
    say('', 'The next session begins with what failed.')
    await play({
      args: ['start', NAME, '--again'],
      browser: 'choose Plan again.',
      view: { until: /^Run by/, hide: isTestStep },
      isBegun: ({ sessions }) => sessions.length > 1,
      isOver: hasPlan(1),
      instead: { args: ['plan', NAME] },
    })
    if (!(await approve(deps, look, play, 1))) return false
    newest = (await look()).sessions.at(-1)
  }
  if (newest!.state !== 'complete') {
    say('', `Session ${newest!.number} is ${newest!.state}, so the story ends here.`)
    return false
  }

  chapter('You check the proof, and resolve the case')
  await play({
    args: ['proof', 'add', NAME, '--artifact', `${newest!.number}-test.tap`],
    browser: 'attach the test report to the case.',
    view: { until: /^(?:Next|Then)/ },
    isBegun: ({ proofs }) => proofs.length > 0,
  })
  await play({
    args: ['proof', 'verify', NAME],
    browser: 'open the report, read it, and choose Verify.',
    view: { until: /^Next/ },
    isBegun: ({ proofs }) => proofs.some(({ verified }) => verified),
  })
  await play({
    args: ['resolve', NAME, '--outcome', OUTCOME],
    browser: 'choose Resolve.',
    isBegun: ({ state }) => state === 'RESOLVED',
  })
  say('', 'What remains: the fix, and the record of how it came about, both in git.')
  deps.narrator.command('git diff --stat')
  await deps.run(['git', '-c', 'color.ui=false', 'diff', '--stat'])
  await casefile(['history', NAME], { hide: (line) => line.startsWith(' ') })
  return true
}

async function runTests({ narrator, run }: TourDeps): Promise<void> {
  narrator.command('npm test')
  await run(['npm', 'test', '--silent'], {
    hide: (line) => !/^(?:not ok|# (?:pass|fail))/.test(line),
  })
}

type Look = () => Promise<Progress>

async function readProgress(client: ApiReader, id: string): Promise<Progress> {
  const [{ body: found }, { body: sessions }, { body: proofs }] = await Promise.all([
    client.request('GET', `/cases/${id}`),
    client.request('GET', `/cases/${id}/sessions`),
    client.request('GET', `/cases/${id}/proof`),
  ])
  sessions.sort((a: SessionJson, b: SessionJson) => a.number - b.number)
  return { state: found.state, sessions, proofs }
}

function hasPlan(index: number): (now: Progress) => boolean {
  return ({ sessions }) => sessions[index] !== undefined && !isPlanning(sessions[index].state)
}

/** Returns false if the plan was not approved. */
async function approve(
  { narrator, show, casefile }: TourDeps,
  look: Look,
  play: (act: Act) => Promise<boolean>,
  index: number,
): Promise<boolean> {
  const isApproved = await play({
    args: ['approve', NAME, '--yes'],
    browser: 'choose Approve and start scripted-agent.',
    isQuestion: true,
    view: runView(),
    isBegun: ({ sessions }) => {
      const { state } = sessions[index]!
      return !isPlanning(state) && state !== 'plan_ready'
    },
    instead: { args: ['tail', NAME], view: runView() },
  })
  if (!isApproved) {
    const abandon = ['abandon', NAME, '--reason', 'Not approved in the demo.']
    show(abandon)
    await casefile(abandon)
  }
  const isStopped = (await look()).sessions[index]!.state === 'abandoned'
  if (isStopped) narrator.say('', 'Not approved, so nothing ran.')
  return !isStopped
}

/** Returns false if the person said no. */
async function playAct(deps: TourDeps, look: Look, act: Act): Promise<boolean> {
  const isBegun = async () => act.isBegun(await look())
  deps.narrator.say('')
  const answer = (await isBegun()) ? 'elsewhere' : await deps.wait(act, isBegun)
  if (answer === 'no') return false
  if (answer === 'yes' && !(await isBegun())) {
    await deps.casefile(act.args, act.view)
    return true
  }
  const { isOver, instead } = act
  deps.narrator.done(`Done in the browser, as by casefile ${act.args[0]}.`)
  if (isOver) await deps.until(async () => isOver(await look()))
  if (instead) {
    deps.show(instead.args)
    await deps.casefile(instead.args, instead.view ?? act.view)
  }
  return true
}

/** The step with the tests, which is the same in all plans. */
function isTestStep(line: string): boolean {
  return /^▶|^ {2}Then Casefile/.test(line)
}

/** The output of a run: of the tests, only what failed. */
function runView(): OutputView {
  let isTesting = false
  return {
    from: /plan approved/,
    until: /^Next/,
    hide(line) {
      if (/▶ \w+/.test(line)) isTesting = line.includes('▶ test')
      if (!/^\s+│/.test(line)) return /^[\d:]+ {4}/.test(line)
      return isTesting ? !/│ (?:not ok|# (?:pass|fail))/.test(line) : /│\s*$/.test(line)
    },
  }
}
