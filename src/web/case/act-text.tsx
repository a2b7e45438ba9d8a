import { counted } from '../../model/amounts.ts'
import { CHANNEL_WORDS } from '../../model/history-act.ts'
import { outcomeLabel } from '../../model/outcomes.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleProse, visibleText } from '../../rendering/hidden-characters.ts'
import { testsText } from '../proof/proof-verdict.tsx'
import { proofPage } from '../shell/addresses.ts'
import { StateBadge } from '../shell/badges.tsx'
import type { CasePageData } from './data.ts'
import type { ActItem } from './timeline.ts'

interface ActWordsProps {
  data: CasePageData
  item: ActItem
}

/** What was done, after the name of the actor. Acts of a session are in its own entry, which names it. */
export function ActText({ data, item }: ActWordsProps) {
  const { act, text } = item.entry
  if (act === null) return 'wrote'
  switch (act.name) {
    case 'created':
      return act.by_hand ? 'created the case by hand' : 'created the case'
    case 'imported':
      return 'imported the case'
    case 'state_changed': {
      const outcome = act.outcome === undefined ? '' : `: ${outcomeLabel(act.outcome)}`
      return (
        <>
          {DONE[act.to] ?? 'changed the state'}
          {visibleText(outcome)}
          {act.by_hand && ' by hand'}{' '}
          {!(act.to in DONE) && (
            <span class="timeline-change">
              <StateBadge state={act.from} /> → <StateBadge state={act.to} />
            </span>
          )}
        </>
      )
    }
    case 'state_confirmed':
      return (
        <>
          confirmed the state <StateBadge state={act.to} />
        </>
      )
    case 'answered':
      return act.question === undefined || item.isReply ? (
        'answered'
      ) : (
        <>
          answered <q dir={directionOf(act.question)}>{visibleProse(act.question)}</q>
        </>
      )
    case 'commented':
      return 'commented'
    case 'edited':
      return `edited ${act.fields.join(', ')}${act.by_hand ? ' by hand' : ''}`
    case 'item_added':
      return (
        <>
          requires <bdi dir={directionOf(text ?? '')}>{visibleText(text ?? '')}</bdi>
        </>
      )
    case 'session_started':
      return `started it (${act.type})`
    case 'plan_ready':
      return (
        <>
          {act.revision === 1 ? 'wrote a plan' : `wrote revision ${act.revision} of the plan`}{' '}
          <Hash hash={act.hash} />
        </>
      )
    case 'plan_edited':
      return (
        <>
          edited the plan{act.by_hand && ' by hand'} <Hash hash={act.hash} />
        </>
      )
    case 'plan_sent_back':
      return `sent the plan back${act.comments === undefined ? '' : ` (${counted(act.comments, 'comment')})`}`
    case 'plan_approved':
      return (
        <>
          approved the plan {act.where && CHANNEL_WORDS[act.where]} <Hash hash={act.hash} />
        </>
      )
    case 'queued':
      return 'put it in line'
    case 'queue_left':
      return 'took it out of the line'
    case 'approval_withdrawn':
      return 'withdrew the approval'
    case 'work_begun':
      return 'began the work after waiting in line'
    case 'run_ended':
      return act.state === 'complete'
        ? 'finished'
        : act.state === 'failed'
          ? 'failed'
          : 'stopped it'
    case 'work_applied':
      return (
        <>
          applied the work <Hash hash={act.commit} />
        </>
      )
    case 'worktree_discarded':
      return 'discarded the worktree'
    case 'renumbered':
      return `renumbered it: it was session ${act.before}`
    case 'session_deleted':
      return 'deleted its file'
    default: {
      const { proof } = item
      const name = `proof ${visibleText(act.type)}`
      const tests = act.name === 'proof_attached' ? proof?.proof.tests : null
      return (
        <>
          {PROOF_WORDS[act.name]}{' '}
          {proof ? <a href={proofPage(data.id, proof.proof.id)}>{name}</a> : name}
          {act.by_hand && ' by hand'}
          {tests && `: ${testsText(tests)}`}
        </>
      )
    }
  }
}

const DONE: Readonly<Record<string, string>> = {
  NEEDS_USER_INPUT: 'asked',
  RESOLVED: 'resolved the case',
}

const PROOF_WORDS = {
  proof_attached: 'attached',
  proof_verified: 'verified',
  proof_accepted: 'accepted',
  proof_changed: 'changed',
  proof_deleted: 'deleted',
} as const

function Hash({ hash }: { hash: string }) {
  return <code class="timeline-hash">{hash}</code>
}
