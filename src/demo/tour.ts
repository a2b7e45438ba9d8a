import { AppError } from '../model/app-error.ts'
import type { OutputView } from './command-output.ts'
import type { Narrator } from './narrator.ts'

export interface TourDeps {
  narrator: Narrator
  /** Runs a program in the workspace, and prints what the view shows. */
  run(command: readonly string[], view?: OutputView): Promise<Ran>
  /** Prints a `casefile` command as a person would type it, and runs it. */
  casefile(args: readonly string[], view?: OutputView): Promise<Ran>
  /** Waits for Enter before it runs the command; null if the person said no. */
  step(args: readonly string[], view?: OutputView, isQuestion?: boolean): Promise<Ran | null>
  /** Opens the page of the case in the browser, if the person wants that. */
  openPage(caseId: string): void
}

export interface Ran {
  code: number
  /** All that it printed. */
  text: string
}

const NAME = 'right after'
const TITLE = 'Signed out right after signing in'
const DESCRIPTION = 'Each token has expired as soon as it is issued.'
const COMMENT = 'Tokens keep seconds (RFC 7519). Convert the clock.'
const OUTCOME = 'ConfirmedCodeBug'

/** Plays the workflow, from a bug to its proof. Returns false if the person did not approve a plan. */
export async function tour(deps: TourDeps): Promise<boolean> {
  const { casefile, step, narrator } = deps
  const { chapter, say } = narrator

  chapter('A bug becomes a case')
  say('Users are signed out right after they sign in. The tests show it:')
  narrator.command('npm test')
  await deps.run(['npm', 'test', '--silent'], {
    hide: (line) => !/^(?:not ok|# (?:pass|fail))/.test(line),
  })
  say('', 'Report it, and say what must prove that it is fixed.')
  const report = ['new', TITLE, '--type', 'bug', '--description', DESCRIPTION]
  const { text } = await casefile(report, { until: /^Next/ })
  const [id] = /\b[0-9a-f]{8}-[0-9a-f-]{27}\b/.exec(text) ?? []
  if (!id) throw new AppError('internal', `casefile new printed no id: ${text}`)
  await casefile(['prove', 'require', NAME, 'All tests pass', '--type', 'test-log'])
  deps.openPage(id)

  chapter('An agent plans, and can change nothing yet')
  say('This agent is scripted: it has no model. Yours is Claude Code, Codex, Gemini …')
  await step(['start', NAME], { until: /^session 1 needs/ })

  chapter('You do not like the plan, and say so on its first line')
  say('Milliseconds in the token? Other programs read it. Send the plan back.')
  await step(['session', 'comment', NAME, '--line', '1', '-m', COMMENT], { until: /^Next/ })
  await step(['revise', NAME], {
    from: /^Plan/,
    until: /^scripted-agent will/,
    hide: isTestStep,
  })

  chapter('You approve exactly this text, and the agent works')
  if (!(await approve(deps))) return false

  chapter('Two tests fail. The gate stays shut, and the agent plans again')
  say('"Fixed!" is not enough to resolve a case:')
  await casefile(['resolve', NAME, '--outcome', OUTCOME], { until: /^Next/ })
  say('', 'The next session begins with what failed.')
  await step(['start', NAME, '--again'], { until: /^Run by/, hide: isTestStep })
  if (!(await approve(deps))) return false

  chapter('You check the proof, and resolve the case')
  await step(['prove', 'add', NAME, '--artifact', '2-test.tap'], { until: /^(?:Next|Then)/ })
  await step(['prove', 'verify', NAME, '--yes'], { until: /^Next/ })
  await step(['resolve', NAME, '--outcome', OUTCOME])
  say('', 'What remains: the fix, and the record of how it came about, both in git.')
  narrator.command('git diff --stat')
  await deps.run(['git', '-c', 'color.ui=false', 'diff', '--stat'])
  await casefile(['show', NAME, '--history'], { hide: (line) => line.startsWith(' ') })
  return true
}

/** Returns false if the plan was not approved. */
async function approve({ step, casefile, narrator }: TourDeps): Promise<boolean> {
  const answer = await step(['approve', NAME, '--yes'], runView(), true)
  if (answer !== null) return true
  await casefile(['session', 'stop', NAME, '--reason', 'Not approved in the demo.'])
  narrator.say('', 'Not approved, so nothing ran.')
  return false
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
