import { type ActName, actText, type HistoryAct } from '../../model/history-act.ts'
import { outcomeLabel } from '../../model/outcomes.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { proofPage } from '../shell/addresses.ts'
import { StateBadge } from '../shell/badges.tsx'
import { Isolated } from '../shell/isolated.tsx'
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
  if (act.name in DONE) return DONE[act.name]
  switch (act.name) {
    case 'state_changed':
      return <StateWords act={act} />
    case 'state_confirmed':
      return (
        <>
          confirmed the state <StateBadge state={act.to} />
        </>
      )
    case 'item_added':
      return (
        <>
          requires <Isolated text={text ?? ''} isName />
        </>
      )
    case 'run_ended': {
      const { state, result } = act
      const done = state === 'complete' ? 'finished' : state === 'failed' ? 'failed' : 'stopped it'
      return result === undefined ? done : `${done}: ${result}`
    }
    default:
      return <Sentence data={data} item={item} act={act} />
  }
}

/** The words of acts whose text is shown below them. */
const DONE: Partial<Record<ActName, string>> = { answered: 'answered', commented: 'commented' }

function StateWords({ act }: { act: HistoryAct & { name: 'state_changed' } }) {
  const { from, to, outcome, by_hand } = act
  const words =
    to === 'NEEDS_USER_INPUT'
      ? 'asked'
      : to === 'RESOLVED'
        ? 'resolved the case'
        : 'changed the state'
  const isShown = from !== undefined && words === 'changed the state'
  return (
    <>
      {words}
      {outcome !== undefined && `: ${visibleText(outcomeLabel(outcome))}`}
      {by_hand && ' by hand'}{' '}
      {isShown && (
        <span class="timeline-change">
          <StateBadge state={from} /> → <StateBadge state={to} />
        </span>
      )}
    </>
  )
}

/** The sentence of `history.md`, with a link to the proof that it names. */
function Sentence({ data, item, act }: ActWordsProps & { act: HistoryAct }) {
  const sentence = actText(act).replace(/^session \d+: /, '')
  const [, words = '', hash] = /^(.*?)(?: \(([0-9a-f]{8})\))?$/s.exec(sentence) ?? []
  if ('proof' in act) {
    const name = act.artifact ?? `${act.type} proof`
    const [before, ...after] = words.split(name)
    const href = item.proof && proofPage(data.id, item.proof.proof.id)
    return (
      <>
        {before}
        {href ? <a href={href}>{visibleText(name)}</a> : visibleText(name)}
        {visibleText(after.join(name))}
      </>
    )
  }
  return (
    <>
      {visibleText(words)} {hash && <code class="small">{hash}</code>}
    </>
  )
}
