import type { Child } from 'hono/jsx'
import { RUNBOOK_FILE } from '../../model/memory-name.ts'
import type { Action, Status } from '../../model/next-act.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { casePage, memoryPage, proofPage, SETUP, sessionPage } from './addresses.ts'
import { LongText } from './disclosure.tsx'

interface StatusBannerProps {
  caseId: string
  status: Status
  /** The page that it is on: what is done there needs no link. */
  here: string
  isRunning?: boolean
  /** In place of the usual button, and beside it. */
  instead?: Child
  beside?: Child
}

/** Where a case or a session is, and the one thing that comes next. */
export function StatusBanner(props: StatusBannerProps) {
  const { status, isRunning = false, instead, beside, ...place } = props
  const { headline, detail, next, tone } = status
  return (
    <div
      id="status"
      class={`notice with-actions next-act${isRunning ? ' running' : ''}`}
      data-tone={tone}
      role={tone === 'bad' ? 'alert' : undefined}
    >
      <div>
        <strong dir={directionOf(headline)}>{visibleText(headline)}</strong>
        {detail !== '' && <LongText text={detail} class="detail" id="reason" />}
      </div>
      <div class="actions">
        {instead ?? (next && <NextAct {...place} next={next} />)}
        {beside}
      </div>
    </div>
  )
}

type NextActProps = Pick<StatusBannerProps, 'caseId' | 'here'> & { next: Action }

function NextAct({ caseId, here, next }: NextActProps) {
  const { act, session, proof } = next
  const ofCase = casePage(caseId)
  const ofSession = session === null ? ofCase : sessionPage(caseId, session)
  const link = (href: string) => (
    <a class="button primary" href={href} data-key="a">
      {visibleText(next.label)}
    </a>
  )
  /** Opens a form of a page, from there or from elsewhere. */
  const form = (page: string, id: string) =>
    here === page ? (
      <button type="button" class="primary needs-script" data-opens={id} data-key="a">
        {visibleText(next.label)}
      </button>
    ) : (
      link(`${page}#${id}`)
    )
  switch (act) {
    case 'review_plan':
    case 'watch':
      return here === ofSession ? null : link(ofSession)
    case 'edit_plan':
      return form(ofSession, 'edit')
    case 'trust':
      return null // in a terminal, where the files can be read
    case 'fix':
      return link(`${here.includes('/proof/') ? ofCase : here}#problems`)
    case 'answer':
      return link(`${ofCase}#answer-text`)
    case 'plan':
      return form(ofCase, 'new-session')
    case 'run_tests':
      return here === ofCase ? (
        <button type="button" class="primary needs-script" data-run-tests={caseId} data-key="a">
          {next.label}
        </button>
      ) : (
        link(`${ofCase}#status`)
      )
    case 'edit_runbook':
      return link(`${memoryPage(caseId, RUNBOOK_FILE)}#edit-memory`)
    case 'set_up':
      return link(SETUP)
    case 'use_terminal':
      return (
        <form class="needs-script" data-send="PUT" action="/current-case">
          <input type="hidden" name="folder" value="." />
          <input type="hidden" name="case_id" value={caseId} />
          <button type="submit" class="primary">
            {next.label}
          </button>
        </form>
      )
    case 'attach':
      return <AttachForm caseId={caseId} next={next} />
    case 'attach_file':
      return form(ofCase, 'attach-proof')
    case 'verify':
    case 'accept':
      return here === proofPage(caseId, proof!) ? null : link(proofPage(caseId, proof!))
    case 'apply':
      return link(`${ofSession}#worktree`)
    case 'plan_again':
      return here === ofSession || here === ofCase ? null : link(ofSession)
    case 'resolve':
      return here === ofCase ? null : link(ofCase)
    default:
      return act satisfies never
  }
}

/** Attaches a file of a session as proof, which is then read and verified on its own page. */
function AttachForm({ caseId, next }: Pick<NextActProps, 'caseId' | 'next'>) {
  return (
    <form
      class="needs-script"
      data-send="POST"
      action={`/cases/${caseId}/proof`}
      data-then={proofPage(caseId, '{id}')}
    >
      <input type="hidden" name="artifact" value={next.artifact ?? ''} />
      <button type="submit" class="primary" data-key="a">
        {visibleText(next.label)}
      </button>
    </form>
  )
}
