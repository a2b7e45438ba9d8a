import { inspect } from 'node:util'
import { Refusal } from '../model/refusal.ts'
import type { PlaceOptions } from '../workspace/settings/folders.ts'
import { type Finding, findingsIn } from './finding.ts'
import { mendAll } from './mend.ts'
import type { Mending } from './mender.ts'
import { mendingText, reportText } from './report.ts'
import { withView } from './view.ts'

export interface CheckOptions extends PlaceOptions {
  fix?: boolean
  json?: boolean
}

export interface CheckResult extends Mending {
  findings: Finding[]
}

/** The exit codes of `casefile check`. */
export const CHECK_EXIT = { clean: 0, problems: 1, failed: 2 } as const

/** Looks at a workspace, with `fix` mends what it can, and says what problems there are then. */
export async function checkWorkspace(
  choice: CheckOptions,
  environment: NodeJS.ProcessEnv,
  now = () => new Date().toISOString(),
): Promise<CheckResult> {
  const mending: Mending = choice.fix
    ? await withView(choice, environment, (view) => mendAll(view, now))
    : { fixed: [], left: [] }
  return { ...mending, findings: await withView(choice, environment, findingsIn) }
}

/** `casefile check`: prints what it finds, and gives the exit code. */
export async function check(options: CheckOptions): Promise<number> {
  const { stdout, stderr } = process
  try {
    const { findings, ...mending } = await checkWorkspace(options, process.env)
    const reported = mendingText(mending)
    if (options.json) stderr.write(reported)
    else stdout.write(reported)
    stdout.write(options.json ? `${JSON.stringify(findings, null, 2)}\n` : reportText(findings))
    return findings.length === 0 ? CHECK_EXIT.clean : CHECK_EXIT.problems
  } catch (error) {
    const why = error instanceof Refusal ? error.message : inspect(error)
    stderr.write(`casefile: could not check: ${why}\n`)
    return CHECK_EXIT.failed
  }
}
