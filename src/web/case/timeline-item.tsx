import { counted } from '../../model/amounts.ts'
import { doubtText, type HistoryEntry } from '../../model/history.ts'
import { providerText, type Session } from '../../model/session.ts'
import {
  durationsText,
  runPartsText,
  sessionDurations,
  stepsTime,
} from '../../model/session-durations.ts'
import { failureText } from '../../model/session-failure.ts'
import { IN_LINE } from '../../model/state-groups.ts'
import { workStepsOf } from '../../model/trail-steps.ts'
import { SessionBar } from '../../rendering/charts/session-bar.tsx'
import { directionOf } from '../../rendering/direction.ts'
import { visibleName, visibleProse, visibleText } from '../../rendering/hidden-characters.ts'
import type { ProofRow } from '../proof/data.ts'
import { isPicture, Thumbnail } from '../proof/picture.tsx'
import { AcceptedReason, testsText, Verdict } from '../proof/proof-parts.tsx'
import { proofPage, sessionPage } from '../shell/addresses.ts'
import { Badge, StateBadge } from '../shell/badges.tsx'
import { LongText } from '../shell/disclosure.tsx'
import { Field } from '../shell/field.tsx'
import { Time } from '../shell/time.tsx'
import type { CasePageData } from './data.ts'
import type { TimelineItem } from './timeline.ts'
import { TimelineIcon } from './timeline-icons.tsx'

interface TimelineEntryProps {
  data: CasePageData
  item: TimelineItem
  /** It is the question that waits for an answer. */
  isOpen: boolean
}

export function TimelineEntry({ data, item, isOpen }: TimelineEntryProps) {
  const { entry, change, number, session, proof } = item
  const { at, who, text, kind } = entry
  // the summary says what is true of the proof now
  const isAttached = proof !== null && /\) attached\b/.test(entry.what)
  const isMovedToo = change !== null && kind !== 'state' && kind !== 'question'
  return (
    <li data-kind={kind} id={number > 0 ? `history-${number}` : undefined}>
      <TimelineIcon item={item} />
      <div class="timeline-body">
        <p class="timeline-what">
          {who !== null && (
            <>
              <strong dir={directionOf(who)}>{visibleText(who)}</strong> {doubtText(entry)}{' '}
            </>
          )}
          <What data={data} item={item} />
          {isMovedToo && (
            <>
              {' '}
              <Change from={change.from} to={change.to} />
            </>
          )}{' '}
          {at !== null && (
            <a class="timeline-time" href={number > 0 ? `#history-${number}` : undefined}>
              <Time at={at} />
            </a>
          )}
        </p>
        {kind === 'note' && <LongText text={entry.what} class="timeline-text" />}
        {text !== null && !isAttached && <LongText text={text} class={textClass(entry)} />}
        {session && (
          <SessionSummary session={session} isInLine={data.inLine?.number === session.number} />
        )}
        {isAttached && <ProofSummary row={proof} />}
        {isOpen && (
          <>
            {!isSameText(text, data.json.reason) && <PresentQuestion data={data} />}
            <AnswerForm data={data} />
          </>
        )}
      </div>
    </li>
  )
}

/** What a person wrote is in a box; what the service says of an act is not. */
function textClass({ kind, what }: HistoryEntry): string {
  const isOfService =
    kind === 'run_ended' ||
    kind === 'queue' ||
    kind === 'worktree' ||
    kind === 'plan' ||
    kind === 'edit' ||
    (kind === 'proof' && !what.endsWith(' accepted'))
  return isOfService ? 'timeline-detail' : 'timeline-text'
}

function What({ data: { id }, item }: { data: CasePageData; item: TimelineItem }) {
  const { entry, change, proof } = item
  const { kind, what, session } = entry
  const link = session !== null && <a href={sessionPage(id, session)}>session {session}</a>
  const [, revision, written] = /\((?:revision (\d+), )?([0-9a-f]{12})\)$/.exec(what) ?? []
  const hash = written && <code class="timeline-hash">{written}</code>
  switch (kind) {
    case 'created':
      return what === 'created' ? 'created the case' : 'created the case by hand'
    case 'imported':
      return 'imported the case'
    case 'comment':
      return 'commented'
    case 'note':
      return 'wrote'
    case 'state':
    case 'question': {
      const { from, to } = change!
      const more = what.slice(`${from} → ${to}`.length)
      return (
        <>
          {kind === 'question'
            ? 'asked'
            : to === 'RESOLVED'
              ? 'resolved the case'
              : 'changed the state'}{' '}
          <Change from={from} to={to} />
          {visibleText(more)}
        </>
      )
    }
    case 'answer': {
      const [, question] = /^answered "(.*)"$/s.exec(what) ?? []
      return question && !item.isReply ? (
        <>
          answered <q dir={directionOf(question)}>{visibleProse(question)}</q>
        </>
      ) : (
        'answered'
      )
    }
    case 'session':
      return item.session ? <>started {link}</> : <Linked id={id} entry={entry} />
    case 'plan':
      if (!/^session \d+ plan (?:ready|edited)/.test(what) || !hash) break
      return revision ? (
        <>
          wrote {revision === '1' ? 'a plan' : `revision ${revision} of the plan`} for {link} {hash}
        </>
      ) : (
        <>
          edited the plan of {link}
          {what.includes(' by hand ') && ' by hand'} {hash}
        </>
      )
    case 'sent_back': {
      const [, more = ''] = /^session \d+ plan sent back(.*)$/.exec(what) ?? []
      return (
        <>
          sent back the plan of {link}
          {visibleText(more)}
        </>
      )
    }
    case 'approved': {
      const [, where = '', approved] =
        /^session \d+ approved (.*)\(plan ([0-9a-f]{12})\)$/.exec(what) ?? []
      return (
        <>
          approved the plan of {link} {visibleText(where)}
          <code class="timeline-hash">{approved}</code>
        </>
      )
    }
    case 'queue':
      if (what.endsWith(' waits in line')) return <>put {link} in line</>
      if (what.endsWith(' left the line')) return <>took {link} out of the line</>
      if (what.endsWith(' approval withdrawn')) return <>withdrew the approval of {link}</>
      return <>began the work of {link}, which waited in line</>
    case 'worktree': {
      const commit = entry.act?.name === 'work_applied' ? entry.act.commit : null
      return commit !== null ? (
        <>
          applied the work of {link} <code class="timeline-hash">{commit}</code>
        </>
      ) : (
        <>discarded the worktree of {link}</>
      )
    }
    case 'run_ended': {
      const end = what.split(' ').at(-1)!
      return (
        <>
          {end === 'abandoned' ? 'stopped' : 'ended'} {link} <StateBadge state={end} />
        </>
      )
    }
    case 'proof': {
      if (!proof) break
      const { id: pid, type } = proof.proof
      const [, done] = /^proof [0-9a-f]{8} \(.*\) (.*)$/.exec(what) ?? []
      const words = /^(attached|verified|accepted)(.*)$/.exec(done ?? '')
      const name = <a href={proofPage(id, pid)}>{type}</a>
      if (!words)
        return (
          <>
            proof {name} {visibleText(done ?? '')}
          </>
        )
      return (
        <>
          {words[1]} proof {name}
          {visibleText(words[2]!)}
        </>
      )
    }
  }
  return <Linked id={id} entry={entry} />
}

/** The entry as it is in the file, with a link to its session. */
function Linked({ id, entry: { what, session } }: { id: string; entry: HistoryEntry }) {
  if (session === null) return <span>{visibleText(what)}</span>
  const name = `session ${session}`
  const [before = '', ...after] = what.split(name)
  return (
    <span>
      {visibleText(before)}
      <a href={sessionPage(id, session)}>{name}</a>
      {visibleName(after.join(name))}
    </span>
  )
}

function Change({ from, to }: { from: string; to: string }) {
  return (
    <span class="timeline-change">
      <StateBadge state={from} /> → <StateBadge state={to} />
    </span>
  )
}

function SessionSummary({ session, isInLine }: { session: Session; isInLine: boolean }) {
  const { case_id, number, type, state, started_at, completed_at, diff, tests, trail } = session
  const spent = sessionDurations(trail)
  const steps_ms = stepsTime(session)
  const durations = durationsText({ ...spent, steps_ms })
  const isApproved = trail.some(({ event }) => event === 'plan_approved')
  const steps = isApproved ? workStepsOf(number, trail) : []
  return (
    <div class="timeline-card" id={`session-${number}`}>
      <div class="row-main">
        <a href={sessionPage(case_id, number)} data-row>
          {number}. {type}
        </a>
        {isInLine ? <Badge tone="info">{IN_LINE}</Badge> : <StateBadge state={state} />}
        {state === 'failed' && <span class="bad-text">{failureText(session)}</span>}
      </div>
      <p class="facts">
        <span>{providerText(session)}</span>
        {steps.length > 0 && <span>{counted(steps.length, 'step')}</span>}
        {tests && state !== 'failed' && (
          <span class={tests.failed > 0 ? 'bad-text' : 'good-text'}>
            {tests.failed > 0
              ? `${tests.failed} of ${counted(tests.run, 'test')} failed`
              : `${counted(tests.passed, 'test')} passed`}
          </span>
        )}
        {diff && <DiffCounts diff={diff} />}
        {durations !== '' && (
          <span class="session-times" title={runPartsText(spent.ran_ms, steps_ms)}>
            <SessionBar durations={spent} />
            <span>{durations}</span>
          </span>
        )}
        <span>
          {completed_at ? 'ended ' : 'started '}
          <Time at={completed_at ?? started_at} />
        </span>
      </p>
    </div>
  )
}

function DiffCounts({ diff }: { diff: NonNullable<Session['diff']> }) {
  const { file, files, additions, deletions } = diff
  if (additions + deletions + (files?.length ?? 0) === 0) return <span>no changes</span>
  return (
    <span>
      {files ? counted(files.length, 'file') : <code>{file}</code>}{' '}
      <span class="good-text">+{additions}</span> <span class="bad-text">−{deletions}</span>
    </span>
  )
}

/** What is true of the proof now; its content and the button to verify it are in the card of the proof. */
function ProofSummary({ row }: { row: ProofRow }) {
  const { proof, verified, objection, acceptedDespite } = row
  return (
    <div class="timeline-card">
      <p class="facts">
        <Verdict proof={proof} verified={verified} />
        {proof.tests && <span>{testsText(proof.tests)}</span>}
        {objection !== null && (
          <span class="bad-text">
            doesn't count: <bdi dir={directionOf(objection)}>{visibleText(objection)}</bdi>
          </span>
        )}
      </p>
      <AcceptedReason accepted={proof.accepted} despite={acceptedDespite} />
      {isPicture(proof) && <Thumbnail proof={proof} />}
    </div>
  )
}

/** For a question that the history does not have, such as one that was just written into case.md by hand. */
export function PendingQuestion({ data }: { data: CasePageData }) {
  return (
    <div class="timeline-end">
      <PresentQuestion data={data} />
      <AnswerForm data={data} />
    </div>
  )
}

function PresentQuestion({ data: { json } }: { data: CasePageData }) {
  return <LongText text={json.reason ?? 'No question was given.'} class="timeline-text" />
}

function isSameText(one: string | null, other: string | null): boolean {
  const [a, b] = [one, other].map((text) => (text ?? '').replace(/\s+/g, ' ').trim())
  return a === b
}

/** The box to answer the question of a case that needs the operator's input. */
function AnswerForm({ data: { id, json, etag } }: { data: CasePageData }) {
  return (
    <form
      class="form timeline-card needs-script"
      id="answer-form"
      data-send="POST"
      data-focus="#state-title"
      action={`/cases/${id}/answer`}
      data-if-match={etag}
      data-conflict="The question"
      data-about={json.reason ?? ''}
    >
      <Field
        id="answer-text"
        label="Your answer"
        hint="The history keeps question and answer. The case returns to its previous state."
      >
        <textarea
          id="answer-text"
          name="text"
          rows={3}
          maxlength={20000}
          required
          aria-describedby="answer-text-hint"
        />
      </Field>
      <div class="actions">
        <button type="submit" class="primary">
          Answer
        </button>
      </div>
    </form>
  )
}
