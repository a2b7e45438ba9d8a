import type { CaseFieldName, CaseValues, NamedField } from '../../model/case-fields.ts'
import { UUID } from '../../model/name-patterns.ts'
import { ISOLATIONS, type Isolation } from '../../model/settings.ts'
import { visibleProse } from '../../rendering/hidden-characters.ts'
import { Field } from './field.tsx'
import { ProviderOptions, type Providers } from './provider-select.tsx'

interface CaseFieldsProps {
  /** The ids of the controls begin with it, as in `edit-title`. */
  form: 'edit' | 'new' | 'state' | 'resolve'
  fields: readonly NamedField[]
  values: Partial<CaseValues>
  /** The providers to choose from, besides none and the present one. */
  providers?: Pick<Providers, 'providers' | 'areKnown'>
  /** The cases to choose the parent from. */
  parents?: readonly { id: string; title: string }[]
  /** Suggestions besides the known words of the field. */
  words?: Partial<Record<CaseFieldName, readonly string[]>>
  /** Replaces the usual hint. */
  hints?: Partial<Record<CaseFieldName, string | undefined>>
  /** Replaces the usual text for "no value". */
  placeholders?: Partial<Record<CaseFieldName, string>>
}

/** Fields of a case in a form, by their rows in model/case-fields.ts. */
export function CaseFields({ fields, ...props }: CaseFieldsProps) {
  const isShort = ({ kind, required }: NamedField) => kind !== 'markdown' && !required
  return (
    <>
      {fields
        .filter(({ required }) => required)
        .map((field) => (
          <CaseField field={field} {...props} />
        ))}
      <div class="field-row">
        {fields.filter(isShort).map((field) => (
          <CaseField field={field} {...props} />
        ))}
      </div>
      {fields
        .filter(({ kind }) => kind === 'markdown')
        .map((field) => (
          <CaseField field={field} {...props} />
        ))}
    </>
  )
}

type CaseFieldProps = Omit<CaseFieldsProps, 'fields'> & { field: NamedField }

function CaseField({ form, field, values, ...given }: CaseFieldProps) {
  const { name, kind, label, required, max, known = [] } = field
  const { providers, words, hints, placeholders } = given
  const usual = typeof field.default === 'string' ? field.default : undefined
  const placeholder = placeholders?.[name] ?? field.placeholder ?? usual
  const id = `${form}-${name}`
  const value: string | readonly string[] = values[name] ?? ''
  const choices = choicesOf(name, given)
  const usualHint = choices ? `${field.about}.` : hintOf(field, hasBlank(value))
  const hint = hints?.[name] ?? usualHint
  const text = typeof value === 'string' ? value : value.join(hasBlank(value) ? ', ' : ' ')
  const shared = {
    'aria-describedby': `${id}-hint`,
    // a new case gets the default; of one that has a value, an empty field removes it
    'data-empty': form === 'new' ? 'omit' : 'null',
  }
  const agents = name === 'provider' ? providers : undefined
  if (choices) {
    const isKnown = text === '' || choices.some((choice) => choice.id === text)
    return (
      <Field id={id} label={label} hint={hint}>
        <select
          id={id}
          name={name}
          {...shared}
          data-agents={agents && (agents.areKnown ? 'known' : 'unknown')}
        >
          <option value="">{placeholder ?? 'none'}</option>
          {!isKnown && (
            <option value={text} selected>
              {text}
            </option>
          )}
          {agents ? (
            <ProviderOptions
              choices={agents.providers}
              areKnown={agents.areKnown}
              selected={text}
            />
          ) : (
            choices.map((choice) => (
              <option value={choice.id} selected={choice.id === text}>
                {choice.label}
              </option>
            ))
          )}
        </select>
      </Field>
    )
  }
  if (kind === 'markdown') {
    return (
      <Field id={id} label={label} hint={hint}>
        <textarea id={id} name={name} {...shared} rows={10}>
          {text === '' ? '' : `\n${text}`}
        </textarea>
      </Field>
    )
  }
  const suggested = [...new Set([...(words?.[name] ?? []), ...known])]
  return (
    <Field id={id} label={label} hint={hint}>
      <input
        id={id}
        name={name}
        value={text}
        {...shared}
        required={required}
        autofocus={form === 'new' && required}
        maxlength={kind === 'line' ? max : undefined}
        {...patternOf(field, text)}
        placeholder={placeholder}
        data-list={kind === 'words' ? (hasBlank(value) ? 'commas' : 'spaces') : undefined}
        data-empty={kind === 'words' || required ? undefined : shared['data-empty']}
        list={suggested.length > 0 ? `${id}-words` : undefined}
        autocomplete="off"
      />
      {suggested.length > 0 && (
        <datalist id={`${id}-words`}>
          {suggested.map((word) => (
            <option value={word} />
          ))}
        </datalist>
      )}
    </Field>
  )
}

const ISOLATION_LABELS: Record<Isolation, string> = {
  worktree: 'in a separate git worktree',
  none: 'in the working folder',
}

/** What can be chosen for a field; null if its value is typed. */
function choicesOf(
  name: CaseFieldName,
  { providers, parents }: Pick<CaseFieldsProps, 'providers' | 'parents'>,
): readonly { id: string; label: string }[] | null {
  if (name === 'provider') return providers?.providers ?? null
  if (name === 'parent')
    return parents?.map(({ id, title }) => ({ id, label: visibleProse(title) })) ?? null
  if (name !== 'isolation') return null
  return ISOLATIONS.map((id) => ({ id, label: ISOLATION_LABELS[id] }))
}

function hintOf(field: NamedField, isBlank: boolean): string {
  const { kind, about, example, known, default: usual } = field
  if (kind === 'words') return `${about}. Separate with ${isBlank ? '' : 'spaces or '}commas.`
  if (kind === 'case') return `${about}, by its id.`
  return known && example !== usual ? `${about}, e.g. ${example}.` : `${about}.`
}

/** The API accepts no tag with a blank, but a hand-edited file may have one. */
function hasBlank(value: string | readonly string[]): boolean {
  return Array.isArray(value) && value.some((word) => /\s/.test(word))
}

/** No pattern if the value from the file doesn't match it: it would block saving the other fields. */
function patternOf({ kind, pattern, rule }: NamedField, value: string) {
  const shape = kind === 'case' ? UUID : kind === 'word' ? pattern : undefined
  if (!shape || (value !== '' && !shape.test(value))) return {}
  return {
    // the attribute is anchored anyway, and rejects a bare - at the end of a class
    pattern: shape.source.replace(/^\^|\$$/g, '').replaceAll('-]', '\\-]'),
    title: `Expected ${kind === 'case' ? 'the UUID of a case in lower case' : rule}`,
  }
}
