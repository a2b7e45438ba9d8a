import { join } from 'node:path'
import { inspect } from 'node:util'
import { INDEX_SEEN_BY_GIT, isIndexSeenByGit } from '../git/seen-by-git.ts'
import { AppError } from '../model/app-error.ts'
import type { FolderOptions } from '../settings/folders.ts'
import { type Finding, findingsIn, shownPath } from './finding.ts'
import { fixAll } from './fix-all.ts'
import type { FixReport } from './fixer.ts'
import { mustBeCheckedOut } from './left-out.ts'
import { fixReportText, reportText } from './report.ts'
import { type Snapshot, withSnapshot } from './snapshot.ts'

export interface CheckOptions extends FolderOptions {
  fix?: boolean
  json?: boolean
}

export interface CheckResult extends FixReport {
  findings: Finding[]
  /** What is no problem of the record, one sentence each. */
  notes: string[]
}

/** The exit codes of `casefile doctor --check`. */
export const CHECK_EXIT = { clean: 0, problems: 1, failed: 2 } as const

/** Checks a workspace, fixes what it can if `fix` is set, and returns the remaining problems. */
export async function checkWorkspace(
  choice: CheckOptions,
  environment: NodeJS.ProcessEnv,
  now = () => new Date().toISOString(),
): Promise<CheckResult> {
  const fixes: FixReport = choice.fix
    ? await withSnapshot(choice, environment, async (snapshot) => {
        await mustBeCheckedOut(snapshot.layout)
        return fixAll(snapshot, now)
      })
    : { fixed: [], left: [] }
  return withSnapshot(choice, environment, async (snapshot) => {
    await mustBeCheckedOut(snapshot.layout)
    return { ...fixes, findings: await findingsIn(snapshot), notes: await notesOn(snapshot) }
  })
}

/** A clone that no service has served, as in CI, has no `index.md`. */
async function notesOn({ layout, hasServed }: Snapshot): Promise<string[]> {
  if (!hasServed || !(await isIndexSeenByGit(layout.memoryRoot))) return []
  const file = shownPath(layout, join(layout.memoryRoot, 'index.md'))
  return [`${file} is not written: ${INDEX_SEEN_BY_GIT}`]
}

/** `casefile doctor --check`: prints the problems and returns the exit code. */
export async function check(
  options: CheckOptions,
  print: (text: string) => void = (text) => void process.stdout.write(text),
): Promise<number> {
  const { stderr } = process
  try {
    const { findings, notes, ...fixes } = await checkWorkspace(options, process.env)
    const reported = fixReportText(fixes) + notes.map((note) => `note: ${note}\n`).join('')
    if (options.json) stderr.write(reported)
    else print(reported)
    if (options.json) process.stdout.write(`${JSON.stringify(findings, null, 2)}\n`)
    else print(reportText(findings))
    return findings.length === 0 ? CHECK_EXIT.clean : CHECK_EXIT.problems
  } catch (error) {
    const why = error instanceof AppError ? error.message : inspect(error)
    stderr.write(`casefile: check failed: ${why}\n`)
    return CHECK_EXIT.failed
  }
}
