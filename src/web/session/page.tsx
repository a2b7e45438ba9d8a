import { providerText } from '../../model/session.ts'
import { durationsText, runPartsText } from '../../model/session-durations.ts'
import { isOver } from '../../model/session-state.ts'
import { type LineWith, lastOf } from '../../model/trail.ts'
import { wallsText } from '../../model/walls.ts'
import { SessionBar } from '../../rendering/charts/session-bar.tsx'
import { directionOf } from '../../rendering/direction.ts'
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
} from '../shell/addresses.ts'
import { StateBadge } from '../shell/badges.tsx'
import { Breadcrumbs } from '../shell/breadcrumbs.tsx'
import { Page } from '../shell/page.tsx'
import { ProblemsList } from '../shell/problems.tsx'
import { ReportLinks } from '../shell/report-links.tsx'
import { markOfSession } from '../shell/tab-mark.ts'
import { Time } from '../shell/time.tsx'
import { CaseContext } from './case-context.tsx'
import { ChangedFiles } from './changed-files.tsx'
import type { SessionPageData } from './data.ts'
import { DiffComments } from './diff-comments.tsx'
import { LeaveLineForm } from './line-notice.tsx'
import { OutputSection } from './output-section.tsx'
import { mayPlanAgain, PlanAgain } from './plan-again.tsx'
import { AbandonForm, StopForm } from './plan-forms.tsx'
import { PlanSection, RevisionList } from './plan-section.tsx'
import {
  BaseCard,
  Evidence,
  LaterCard,
  OutOfScope,
  RefusedActions,
  TestResults,
  UsageCard,
} from './results.tsx'
import { mayContinue } from './status-banner.ts'
import { StepList } from './step-list.tsx'
import { EarlyChanges, TerminalNotice, TerminalPlace } from './terminal-notices.tsx'
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
  const { folder, session, ended, status } = data
  const { id, title } = folder.case
  // mistakes in the plan are shown with the plan
  const problems = data.json.problems.filter(({ code }) => code !== 'invalid_plan')
  const waits = session.state === 'plan_ready'
  // the output says why a session failed, and a diff without changes has nothing to show
  const isOutputFirst = session.state === 'failed' || session.diff?.file === ''
  const side = (
    <div class="column" id="session-side">
      {waits && <CaseContext data={data} />}
      {!waits && <StepList data={data} />}
      <WorktreePanel data={data} />
      <TestResults data={data} />
      <BaseCard data={data} />
      <Evidence data={data} />
      <UsageCard data={data} />
      <RevisionList data={data} />
      {mayContinue(data) && !mayPlanAgain(data) && (
        <a class="button" id="go-on" href={`${casePage(id)}#new-session`}>
          New session
        </a>
      )}
      {!ended && session.state !== 'complete' && status.kind !== 'running' && (
        <AbandonForm data={data} />
      )}
      {!waits && <CaseContext data={data} />}
      {waits && <StepList data={data} />}
    </div>
  )
  const main = (
    <div class="column main" id="session-main">
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
      {isOver(session.state) && !isOutputFirst && <Changes data={data} />}
      <OutputSection data={data} />
      {isOver(session.state) && isOutputFirst && <Changes data={data} />}
      {!waits && <PlanSection data={data} />}
      <TrailTable data={data} />
    </div>
  )
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
      <div class={waits ? 'columns reviewing' : 'columns'}>
        {waits ? [main, side] : [side, main]}
      </div>
    </Page>
  )
}

/** While it waits for a session of another case, the events of all cases change this page. */
function liveEvents({ folder, session, json, occupant }: SessionPageData): string {
  const { id } = folder.case
  if (json.queue !== null || occupant !== null) return changesOf()
  return isOver(session.state) ? changesOf(id) : `/events?after=now&case=${id}`
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

/** Which session this is, its state, and who has to do something now. */
function SessionHead({ data }: { data: SessionPageData }) {
  const { folder, session } = data
  const { id, title } = folder.case
  const { number, started_at } = session
  const durations = durationsText(data.json.durations)
  const { ran_ms, steps_ms } = data.json.durations
  // of a session in a terminal only the proof steps are guarded
  const guarded = data.terminal ? undefined : lastOf(session.trail, 'guarded')
  const warning = lastOf(session.trail, 'agent_started')?.fields.warning
  const others = folder.sessions.filter((each) => Math.abs(each.number - number) === 1)
  return (
    <header class="record-head" id="session-head" data-case={id} data-session={session.id}>
      <Breadcrumbs above={pathTo(id, title)} current={`Session ${number}`} />
      <h1 tabindex={-1}>
        <bdi dir={directionOf(title)}>{visibleProse(title)}</bdi>{' '}
        <span class="session-name">
          Session {number} · {session.type}
        </span>
      </h1>
      <div class="facts">
        <StateBadge state={session.state} />
        <span>
          Provider <strong>{visibleName(providerText(session))}</strong>
        </span>
        <TerminalPlace data={data} />
        <span>
          Started <Time at={started_at} />
        </span>
        {durations !== '' && (
          <span class="session-times" title={runPartsText(ran_ms, steps_ms)}>
            <SessionBar durations={data.json.durations} />
            <span>{durations[0]!.toUpperCase() + durations.slice(1)}</span>
          </span>
        )}
        <ApprovalSignature signature={data.json.signature} />
        {guarded && <span>{guardText(guarded)}</span>}
        <a href={memoryPage(id, `${number}.md`)}>View file</a>
        <ReportLinks caseId={id} sessionId={session.id} />
        {others.map((other) => (
          <a href={sessionPage(id, other.number)}>
            {other.number < number ? '← ' : ''}Session {other.number}
            {other.number > number ? ' →' : ''}
          </a>
        ))}
      </div>
      {typeof warning === 'string' && (
        <p class="notice" data-tone="warn" id="agent-warning">
          {visibleText(warning)}
        </p>
      )}
      <TerminalNotice data={data} />
      <StatusBanner data={data} />
    </header>
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

function StatusBanner({ data }: { data: SessionPageData }) {
  const { session, status } = data
  const hasOutput = data.output.length > 0 || data.json.output !== ''
  return (
    <div
      id="status"
      class={`notice with-actions session-status ${status.kind}`}
      data-tone={status.tone}
      role={status.tone === 'bad' ? 'alert' : undefined}
    >
      <p>
        <strong>{status.text}</strong> <span>{status.more}</span>
      </p>
      {session.state === 'plan_ready' && status.tone !== 'bad' && (
        <a class="visually-hidden needs-script" id="to-approve" href="#approve" data-key="a">
          Go to Approve
        </a>
      )}
      {data.json.queue !== null && <LeaveLineForm session={session} />}
      {status.kind === 'running' && <StopForm data={data} />}
      {mayPlanAgain(data) && (
        <div class="actions">
          <PlanAgain session={session} objection={data.planObjection} />
          {hasOutput && (
            <a class="button" href="#output">
              Show the output
            </a>
          )}
        </div>
      )}
    </div>
  )
}

/** How the programs of the run were kept away from the records. */
function guardText({ fields }: LineWith<'guarded'>): string {
  const text = wallsText(fields) ?? 'your files are read-only (mounts)'
  return `${text[0]?.toUpperCase()}${text.slice(1)}`
}
