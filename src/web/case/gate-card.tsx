import type { Gate, GateItem } from '../../model/gate.ts'
import { visibleProse } from '../../rendering/hidden-characters.ts'
import { proofPage } from '../shell/addresses.ts'
import { FormActions, FormDisclosure, ShowMore } from '../shell/disclosure.tsx'
import { InputField } from '../shell/field.tsx'
import { HelpLink } from '../shell/help-link.tsx'
import { Isolated } from '../shell/isolated.tsx'
import type { CasePageData } from './data.ts'

const MAX_ITEMS = 15

/** The proof that a case needs before it can be resolved, and what is missing. */
export function GateList({ data: { id, gate } }: { data: CasePageData }) {
  const takesAny = !gate.items.some(({ required }) => required)
  return (
    <section class="gate" id="gate" aria-labelledby="gate-title">
      <h2 id="gate-title">
        To resolve <HelpLink topic="gate" />
      </h2>
      <ShowMore
        id="more-items"
        items={gate.items}
        limit={MAX_ITEMS}
        label={`All ${gate.items.length} items`}
        list={(items, start) => (
          <ul class="gate-items stack">
            {start === 0 && takesAny && (
              <Line isMet={gate.verified > 0} isRequired>
                At least one verified proof
              </Line>
            )}
            {items.map((item) => (
              <GateLine caseId={id} item={item} />
            ))}
          </ul>
        )}
      />
      <Objections id={id} gate={gate} />
    </section>
  )
}

const MAX_OBJECTIONS = 5

/** Proofs that don't count even if they are verified, newest first. */
function Objections({ id, gate }: { id: string; gate: Gate }) {
  const objections = gate.objections.filter(({ code }) => code !== 'not_verified').reverse()
  if (gate.open || objections.length === 0) return null
  return (
    <ul class="plain-list small" id="gate-objections">
      {objections.slice(0, MAX_OBJECTIONS).map(({ id: proof, type, reason }) => (
        <li>
          <a href={proofPage(id, proof)}>{type}</a> doesn't count:{' '}
          <Isolated class="bad-text" text={reason} />
        </li>
      ))}
      {objections.length > MAX_OBJECTIONS && <li>and {objections.length - MAX_OBJECTIONS} more</li>}
    </ul>
  )
}

export function ItemForm({ id }: { id: string }) {
  return (
    <FormDisclosure
      id="add-item"
      label="Add a requirement"
      data-send="POST"
      action={`/cases/${id}/proof/checklist`}
    >
      <InputField
        id="item-description"
        label="What has to be proved?"
        name="description"
        required
        maxlength={500}
      />
      <InputField
        id="item-type"
        label="Type of proof"
        hint="A verified proof of this type meets it."
        name="type"
        value="test-log"
        list="proof-types"
        required
        autocomplete="off"
      />
      <label class="check">
        <input type="checkbox" name="required" checked /> Required to resolve the case
      </label>
      <FormActions submit="Add" />
    </FormDisclosure>
  )
}

interface LineProps {
  isMet: boolean
  isRequired: boolean
  // biome-ignore lint/suspicious/noExplicitAny: what JSX takes as children
  children?: any
}

function Line({ isMet, isRequired, children }: LineProps) {
  const word = isMet ? 'Met: ' : isRequired ? 'Missing: ' : 'Optional, not met: '
  return (
    <li class={isMet ? 'met' : isRequired ? 'missing' : 'optional'}>
      <span class="gate-mark" aria-hidden="true">
        {isMet ? '✓' : isRequired ? '○' : '–'}
      </span>
      <span>
        <span class="visually-hidden">{word}</span>
        {children}
      </span>
    </li>
  )
}

/** An item of the checklist, and the proof that meets it. */
export function GateLine({ caseId, item }: { caseId: string; item: GateItem }) {
  const { description, type, required, satisfied_by } = item
  return (
    <Line isMet={satisfied_by !== null} isRequired={required}>
      <Isolated text={description} />{' '}
      <span class="small muted">
        {type ?? 'no type'}
        {required ? '' : ', optional'}
      </span>
      {satisfied_by && (
        <>
          {' '}
          <a class="small" href={proofPage(caseId, satisfied_by)}>
            View proof
            <span class="visually-hidden"> of {visibleProse(description)}</span>
          </a>
        </>
      )}
    </Line>
  )
}
