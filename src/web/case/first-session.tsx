import { isClosedState } from '../../model/attention.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { memoryPage, SETUP } from '../shell/addresses.ts'
import { CopiableText } from '../shell/copy-button.tsx'
import type { CasePageData } from './data.ts'

/** Beside what to do in a terminal: the command, and the other way. */
export function TerminalWays({
  data: { status, json, start, provider, sessions, objections },
}: {
  data: CasePageData
}) {
  const isNext = status.next === null || status.next.act === 'use_terminal'
  if (start.terminal === null || sessions.length > 0 || !isNext || isClosedState(json.state))
    return null
  return (
    <>
      {start.terminal.isCurrent && (
        <CopiableText
          text={provider}
          what={`the command for ${visibleText(start.planner ?? '')}`}
        />
      )}
      {objections.folder === null && (
        <button type="button" class="needs-script" data-opens="new-session">
          Let Casefile start it
        </button>
      )}
    </>
  )
}

/** Whether a session without an agent would have nothing to plan with. */
export function lacksPlan({ runbook }: CasePageData): boolean {
  return runbook !== null && runbook.plans_from === null
}

/** What can be done where there is nothing to plan with. */
export function WaysToPlan({ data: { id, runbook } }: { data: CasePageData }) {
  const command = runbook?.tests?.command
  return (
    <>
      <a class="button primary" href={SETUP}>
        Set up an agent
      </a>
      <a class="button" href={memoryPage(id, 'runbook.md')}>
        Write a runbook
      </a>
      {command === undefined ? (
        <a class="button" href={`${SETUP}#setup-proof`}>
          Say how the tests are run
        </a>
      ) : (
        <button type="button" class="needs-script" data-run-tests={id}>
          <span>
            Just run <code>{visibleText(command)}</code>
          </span>
        </button>
      )}
    </>
  )
}
