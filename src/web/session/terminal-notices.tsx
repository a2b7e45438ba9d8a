import { counted } from '../../model/amounts.ts'
import { planViolation } from '../../model/plan-violation.ts'
import { CodeName } from '../../rendering/highlight/code-view.tsx'
import { FileNames } from '../shell/facts.tsx'
import { NotGated } from '../shell/not-gated.tsx'
import type { SessionPageData } from './data.ts'

/** The folder and the branch that the agent works in. */
export function TerminalFolder({ data: { terminal } }: { data: SessionPageData }) {
  if (!terminal?.conversation) return null
  const { folder, conversation } = terminal
  const { branch } = conversation
  return (
    <span id="terminal-place">
      in {folder === '.' ? 'the workspace' : <CodeName name={folder} />}
      {branch !== null && (
        <>
          , branch <CodeName name={branch} />
        </>
      )}
    </span>
  )
}

/** That nothing is denied to the agent, or that nothing can be decided here. */
export function TerminalNotice({ data }: { data: SessionPageData }) {
  const { terminal, isRunning } = data
  if (terminal?.isUngated) {
    return (
      <p class="notice" data-tone="bad" id="not-gated">
        <NotGated />
      </p>
    )
  }
  if (terminal && terminal.conversation === null && isRunning) {
    return (
      <p class="notice" data-tone="warn" id="unknown-conversation">
        This machine doesn't know the conversation of this session. Abandon the session if it
        doesn't continue elsewhere.
      </p>
    )
  }
  return null
}

/** Files that changed before the plan was approved. */
export function EarlyChanges({ data: { session } }: { data: SessionPageData }) {
  if (session.origin !== 'terminal') return null
  const files = planViolation(session)?.files ?? []
  if (files.length === 0) return null
  return (
    <section class="card" id="early-changes" aria-labelledby="early-changes-title">
      <h2 id="early-changes-title">Changed before the approval</h2>
      <p>
        {counted(files.length, 'file')} changed in the working folder before the plan was approved.
        A person may have made the change, since you and the agent work in the same folder. The diff
        of the session has it, and its proof counts only if you accept it with a reason.
      </p>
      <FileNames names={files} limit={MAX_FILES} where=": see the audit trail" />
    </section>
  )
}

const MAX_FILES = 20
