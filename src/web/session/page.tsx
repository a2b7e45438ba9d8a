import { capital } from '../../model/one-line.ts'
import { providerText } from '../../model/session.ts'
import { durationsText, runPartsText } from '../../model/session-durations.ts'
import { hasEnded } from '../../model/session-state.ts'
import { type LineWith, lastOf } from '../../model/trail.ts'
import { wallsText } from '../../model/walls-text.ts'
import { visibleName, visibleProse, visibleText } from '../../rendering/hidden-characters.ts'
import type { Assets } from '../assets.ts'
import { FailedTests } from '../proof/tests-card.tsx'
import {
  casePage,
  changesOf,
  logPage,
  memoryPage,
  pathTo,
  sessionApi,
  sessionPage,
  sessionReport,
} from '../shell/addresses.ts'
import { StateBadge } from '../shell/badges.tsx'
import { Breadcrumbs } from '../shell/breadcrumbs.tsx'
import { Hint } from '../shell/hint.tsx'
import { Menu, MenuItem } from '../shell/menu.tsx'
import { StatusBanner } from '../shell/next-act.tsx'
import { Page } from '../shell/page.tsx'
import { ProblemsList } from '../shell/problems.tsx'
import { markOfSession } from '../shell/tab-mark.ts'
import { Time } from '../shell/time.tsx'
import { CaseContext } from './case-context.tsx'
import { ChangedFiles } from './changed-files.tsx'
import type { SessionPageData } from './data.ts'
import { DiffComments } from './diff-comments.tsx'
import { LeaveLineForm } from './line-notice.tsx'
import { OutputSection } from './output-section.tsx'
import { PlanAgain } from './plan-again.tsx'
import { AbandonForm, StopForm } from './plan-forms.tsx'
import { PlanSection, RevisionList } from './plan-section.tsx'
import { BaseCard, Evidence, LaterCard, OutOfScope, RefusedActions, UsageCard } from './results.tsx'
import { StepList } from './step-list.tsx'
import { EarlyChanges, TerminalFolder, TerminalNotice } from './terminal-notices.tsx'
import { TrailTable } from './trail-table.tsx'
import { WorktreePanel } from './worktree-panel.tsx'

interface SessionPageProps {
  data: SessionPageData
  assets: Assets
}

/**
 * A session, with what the operator has to do first: the plan while it waits, steps and output while they run, the
 * results after that.
 */
export function SessionPage({ data, assets }: SessionPageProps) {
  const { contents, session, ended } = data
  const { id, title } = contents.case
  // mistakes in the plan are shown with the plan
  const problems = data.json.problems.filter(({ code }) => code !== 'invalid_plan')
  const waits = session.state === 'plan_ready'
  // the output says why a session failed, and a diff without changes has nothing to show
  const isOutputFirst = session.state === 'failed' || session.diff?.file === ''
  return (
    <Page
      title={`Session ${session.number}: ${title}`}
      assets={assets}
      kind="session"
      live={liveEvents(data)}
      mark={markOfSession(session, data.rows, ended)}
    >
      <SessionHead data={data} />
      <ProblemsList caseId={id} problems={problems} />
      <div class="opened" id="opened">
        <RevisionList data={data} />
        {mayAbandon(data) && <AbandonForm data={data} />}
      </div>
      <div class={waits ? 'page-columns reviewing' : 'page-columns'}>
        <div class="page-main" id="session-main">
          {waits && <EarlyChanges data={data} />}
          {waits && <PlanSection data={data} />}
          <OutOfScope data={data} />
          <LaterCard data={data} />
          {!waits && <EarlyChanges data={data} />}
          <FailedTests
            reports={data.reports}
            failedTests={session.failed_tests}
            counts={session.tests}
            pageOf={(artifact) => logPage(id, session.number, artifact)}
          />
          <RefusedActions data={data} />
          {hasEnded(session.state) && !isOutputFirst && <Changes data={data} />}
          <OutputSection data={data} />
          {hasEnded(session.state) && isOutputFirst && <Changes data={data} />}
          {!waits && <PlanSection data={data} />}
          <TrailTable data={data} />
        </div>
        <div class="rail" id="session-side">
          <CaseContext data={data} />
          <BaseCard data={data} />
          <StepList data={data} />
          <WorktreePanel data={data} />
          <Evidence data={data} />
          <UsageCard data={data} />
        </div>
      </div>
    </Page>
  )
}

function mayAbandon({ ended, session, isRunning }: SessionPageData): boolean {
  return !ended && session.state !== 'complete' && !isRunning
}

/** While it waits for a session of another case, the events of all cases change this page. */
function liveEvents({ contents, session, json, occupant }: SessionPageData): string {
  const { id } = contents.case
  if (json.queue !== null || occupant !== null) return changesOf()
  return hasEnded(session.state) ? changesOf(id) : `/events?after=now&case=${id}`
}

function Changes({ data }: { data: SessionPageData }) {
  const { session, changes, ended } = data
  const comments = ended ? undefined : `${sessionApi(session)}/comments`
  return (
    <ChangedFiles session={session} changes={changes} comments={comments}>
      <DiffComments data={data} />
    </ChangedFiles>
  )
}

/** Which session this is, in one line, and who has to do something now. */
function SessionHead({ data }: { data: SessionPageData }) {
  const { contents, session } = data
  const { id, title } = contents.case
  const { number, started_at } = session
  const warning = lastOf(session.trail, 'agent_started')?.fields.warning
  const approver = lastOf(session.trail, 'plan_approved')?.fields.by
  const isWaiting = session.state === 'plan_ready' && data.json.queue === null
  return (
    <header
      class={isWaiting ? 'record-head reviewing' : 'record-head'}
      id="session-head"
      data-case={id}
      data-session={session.id}
    >
      <Breadcrumbs above={pathTo(id, title)} current={`Session ${number}`} />
      <div class="session-line">
        <h1 tabindex={-1}>
          <span class="visually-hidden">{visibleProse(title)}: </span>Session {number}
        </h1>
        <StateBadge state={session.state} />
        <span class="muted small">
          {visibleName(providerText(session))} · {session.type} · <Time at={started_at} />
          {typeof approver === 'string' && ` · approved by ${visibleName(approver)}`}
        </span>
        <TerminalFolder data={data} />
        <ApprovalSignature signature={data.json.signature} />
        <RunFacts data={data} />
        <SessionMenu data={data} />
      </div>
      {typeof warning === 'string' && (
        <p class="notice" data-tone="warn" id="agent-warning">
          {visibleText(warning)}
        </p>
      )}
      <TerminalNotice data={data} />
      <SessionStatus data={data} />
    </header>
  )
}

/** How long it took, and what its programs could write to, see and reach. */
function RunFacts({ data: { session, json, terminal } }: { data: SessionPageData }) {
  const durations = durationsText(json.durations)
  const { ran_ms, steps_ms } = json.durations
  // of a session in a terminal only the proof steps are guarded
  const guarded = terminal ? undefined : lastOf(session.trail, 'guarded')
  const texts = [durations, runPartsText(ran_ms, steps_ms), guarded ? guardText(guarded) : '']
  return <Hint id="run-facts" about="how it ran" texts={texts} />
}

function SessionMenu({ data }: { data: SessionPageData }) {
  const { contents, session, revisionRows, ended } = data
  const { case_id, number, state } = session
  const others = contents.sessions.filter((each) => Math.abs(each.number - number) === 1)
  return (
    <Menu>
      {state === 'plan_ready' && (
        <MenuItem opens="edit" shortcut="e">
          Edit the plan
        </MenuItem>
      )}
      {revisionRows.rows.length > 1 && <MenuItem opens="revisions">Plan revisions</MenuItem>}
      {others.map((other) => (
        <a href={sessionPage(case_id, other.number)}>Session {other.number}</a>
      ))}
      {(ended || state === 'complete') && (
        <a href={`${casePage(case_id)}#new-session`} id="go-on">
          New session
        </a>
      )}
      <a href={memoryPage(case_id, `${number}.md`)}>View file</a>
      <button
        type="button"
        class="quiet needs-script"
        data-copy-from={sessionReport(case_id, session.id)}
      >
        Copy as markdown
      </button>
      {mayAbandon(data) && <MenuItem opens="abandon">Abandon this session</MenuItem>}
    </Menu>
  )
}

function ApprovalSignature({ signature }: { signature: SessionPageData['json']['signature'] }) {
  if (signature === null) return null
  const { state, signer, key, reason } = signature
  if (state === 'valid') {
    return (
      <span class="good-text" title={key ?? undefined}>
        ✓ Approval signed by <strong>{visibleText(signer ?? '')}</strong>
      </span>
    )
  }
  const text = {
    unknown_signer: 'Approval signed by an unknown key',
    invalid: 'The signature of the approval is invalid',
    unchecked: 'Approval signed, not checked',
  }[state]
  return (
    <span class={state === 'unchecked' ? undefined : 'bad-text'}>
      {text}
      {reason !== null && `: ${visibleText(reason)}`}
    </span>
  )
}

function SessionStatus({ data }: { data: SessionPageData }) {
  const { session, status, isRunning, json, planObjection } = data
  const hasOutput = data.output.length > 0 || json.output !== ''
  const isAgain = status.next?.act === 'plan_again' && status.next.session === session.number
  return (
    <StatusBanner
      caseId={session.case_id}
      status={status}
      here={sessionPage(session.case_id, session.number)}
      isRunning={isRunning}
      instead={isAgain ? <PlanAgain session={session} objection={planObjection} /> : undefined}
      beside={
        <>
          {status.next?.act === 'review_plan' && status.next.session === session.number && (
            <a class="visually-hidden needs-script" id="to-approve" href="#approve" data-key="a">
              Go to Approve
            </a>
          )}
          {json.queue !== null && <LeaveLineForm session={session} />}
          {isRunning && json.queue === null && <StopForm data={data} />}
          {session.state === 'failed' && hasOutput && (
            <a class="button" href="#output">
              Show the output
            </a>
          )}
        </>
      }
    />
  )
}

/** How the programs of the run were kept away from the records. */
function guardText({ fields }: LineWith<'guarded'>): string {
  return capital(wallsText(fields) ?? 'your files are read-only (mounts)')
}
