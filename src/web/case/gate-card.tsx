import { counted } from '../../model/amounts.ts'
import type { Gate, GateItem } from '../../model/gate.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { proofPage } from '../shell/addresses.ts'
import { Field } from '../shell/field.tsx'
import type { CaseView } from './case-view.ts'
import { FoldActions } from './fold-actions.tsx'
import { FoldRest } from './fold-rest.tsx'

const MOST_ITEMS = 15

/** What RESOLVED needs: what of it is there, and what is missing. */
export function GateCard({ view: { id, gate, proofs, broken } }: { view: CaseView }) {
  const waiting = (type: string | null) =>
    proofs.find(
      ({ proof, verified, whyNot }) => proof.type === type && !verified && whyNot === null,
    )?.proof.id ?? null
  return (
    <section class="card gate" id="gate" aria-labelledby="gate-title">
      <header>
        <h2 id="gate-title">Proof gate</h2>
        <span class="gate-state" data-open={gate.open ? '' : undefined}>
          {gate.open ? 'Complete' : 'Incomplete'}
        </span>
      </header>
      <FoldRest
        id="more-items"
        items={gate.items}
        most={MOST_ITEMS}
        label={`All ${gate.items.length} items`}
        list={(items, start) => (
          <ul class="gate-items">
            {start === 0 && (
              <Line isMet={gate.verified > 0} isNeeded>
                {gate.verified === 0
                  ? 'At least one verified proof'
                  : `${counted(gate.verified, 'verified proof')}`}
              </Line>
            )}
            {items.map((item) => (
              <Line isMet={item.satisfied_by !== null} isNeeded={item.required}>
                <Item id={id} item={item} waiting={waiting(item.type)} />
              </Line>
            ))}
          </ul>
        )}
      />
      <Objections id={id} gate={gate} />
      <p class="small muted">
        {gate.open
          ? 'Nothing is missing.'
          : `${counted(gate.missing.length, 'thing')} missing for RESOLVED: attach proof, read it, and verify it.`}
      </p>
      {!broken && <ItemForm id={id} />}
    </section>
  )
}

const MOST_OBJECTIONS = 5

/** The proofs that do not count although they may be verified, the newest first; of no interest once the gate is open. */
function Objections({ id, gate }: { id: string; gate: Gate }) {
  const telling = gate.objections.filter(({ code }) => code !== 'not_verified').reverse()
  if (gate.open || telling.length === 0) return null
  return (
    <ul class="plain-list small" id="gate-objections">
      {telling.slice(0, MOST_OBJECTIONS).map(({ id: proof, type, reason }) => (
        <li>
          <a href={proofPage(id, proof)}>{type}</a> supports nothing:{' '}
          <bdi class="bad-text">{visibleText(reason)}</bdi>
        </li>
      ))}
      {telling.length > MOST_OBJECTIONS && <li>and {telling.length - MOST_OBJECTIONS} more</li>}
    </ul>
  )
}

function ItemForm({ id }: { id: string }) {
  return (
    <details class="fold needs-script" id="add-item" data-close>
      <summary class="button compact">Add an item</summary>
      <form
        class="form"
        id="add-item-form"
        data-send="POST"
        action={`/cases/${id}/proof/checklist`}
      >
        <Field id="item-description" label="What is to be proved">
          <input id="item-description" name="description" required maxlength={500} />
        </Field>
        <Field id="item-type" label="Type of proof" hint="A verified proof of it is needed">
          <input
            id="item-type"
            aria-describedby="item-type-hint"
            name="type"
            value="test-log"
            list="proof-types"
            required
            autocomplete="off"
          />
        </Field>
        <label class="check">
          <input type="checkbox" name="required" checked /> Required for RESOLVED
        </label>
        <FoldActions submit="Add the item" />
      </form>
    </details>
  )
}

interface LineProps {
  isMet: boolean
  isNeeded: boolean
  // biome-ignore lint/suspicious/noExplicitAny: what JSX takes as children
  children?: any
}

function Line({ isMet, isNeeded, children }: LineProps) {
  const word = isMet ? 'There: ' : isNeeded ? 'Missing: ' : 'Not there, and not required: '
  return (
    <li data-met={isMet ? '' : undefined} data-needed={isNeeded ? '' : undefined}>
      <span class="gate-mark" aria-hidden="true">
        {isMet ? '✓' : isNeeded ? '○' : '–'}
      </span>
      <span>
        <span class="visually-hidden">{word}</span>
        {children}
      </span>
    </li>
  )
}

interface ItemProps {
  id: string
  item: GateItem
  /** A proof of its type that is not verified yet. */
  waiting: string | null
}

function Item({ id, item, waiting }: ItemProps) {
  return (
    <>
      <bdi>{item.description}</bdi>{' '}
      <span class="small muted">
        {item.type ?? 'no type'}
        {item.required ? ', required' : ''}
      </span>
      {item.satisfied_by && (
        <>
          {' '}
          <a class="small" href={proofPage(id, item.satisfied_by)}>
            the proof
            <span class="visually-hidden"> for {item.description}</span>
          </a>
        </>
      )}
      {!item.satisfied_by && waiting && (
        <>
          {' '}
          <a class="small" href={proofPage(id, waiting)}>
            read and verify it
            <span class="visually-hidden">: {item.description}</span>
          </a>
        </>
      )}
    </>
  )
}
