import { parseRequirement, USUAL_REQUIREMENTS } from '../../markdown/requirement-line.ts'
import type { Case } from '../../model/case.ts'
import { NEW_CASE_FIELDS } from '../../model/case-fields.ts'
import { usualSessionType } from '../../model/case-state.ts'
import { visibleProse } from '../../rendering/hidden-characters.ts'
import type { PageAssets } from '../assets.ts'
import { TASKS } from '../case/session-form.tsx'
import type { Words } from '../list/filters.ts'
import { CASES, casePage } from '../shell/addresses.ts'
import { Breadcrumbs } from '../shell/breadcrumbs.tsx'
import { CaseFields } from '../shell/case-fields.tsx'
import { Field } from '../shell/field.tsx'
import { Page } from '../shell/page.tsx'
import { ProviderSelect, type Providers } from '../shell/provider-select.tsx'

interface NewCasePageProps {
  assets: PageAssets
  words: Words
  /** What a first session can run with. */
  start: Providers
  /** The parent of the new case. */
  parent: Case | undefined
}

/** The form of a new case. After it is sent, the page of the case opens. */
export function NewCasePage(props: NewCasePageProps) {
  const { assets, words, parent, start } = props
  const shared = {
    form: 'new' as const,
    values: parent ? { parent: parent.id } : {},
    hints: { parent: parent && `Part of: ${visibleProse(parent.title)}` },
    words: { type: words.type },
    placeholders: { provider: `default (${start.provider})` },
    providers: start,
  }
  return (
    <Page title="New case" assets={assets} kind="new-case">
      <Breadcrumbs
        above={[
          { href: CASES, text: 'Cases' },
          ...(parent ? [{ href: casePage(parent.id), text: parent.title }] : []),
        ]}
        current="New case"
      />
      <h1>New case</h1>
      <noscript>
        <p>
          This form needs JavaScript. You can also run <code>casefile new</code> in a terminal.
        </p>
      </noscript>
      <form
        class="card form new-case needs-script"
        id="new-case"
        data-send="POST"
        action="/cases"
        data-then="/case/{id}"
        autocomplete="off"
      >
        <CaseFields {...shared} fields={NEW_CASE_FIELDS.filter(({ isBasic }) => isBasic)} />
        <ProofField />
        <details open={parent !== undefined}>
          <summary>More fields</summary>
          <div class="form">
            <CaseFields {...shared} fields={NEW_CASE_FIELDS.filter(({ isBasic }) => !isBasic)} />
          </div>
        </details>
        <PlanChoice start={start} />
        <div class="actions">
          <button type="submit" class="primary">
            Create case
          </button>
          {start.objections.folder === null && (
            <button type="submit" id="create-and-plan">
              Create and plan
            </button>
          )}
          <a href={CASES} class="button quiet" data-return>
            Cancel
          </a>
          <span class="muted small">
            <kbd>Ctrl</kbd> <kbd>Enter</kbd> creates
          </span>
        </div>
      </form>
    </Page>
  )
}

/** What becomes the proof checklist; client/new-case.tsx shows the items as they will be. */
function ProofField() {
  return (
    <div class="requirements stack">
      <Field
        id="new-checklist"
        label="What would prove it solved?"
        hint="One requirement per line. It must be met before the case can be resolved, unless it ends with (optional)."
      >
        <textarea
          id="new-checklist"
          name="checklist"
          rows={3}
          aria-describedby="new-checklist-hint"
          data-list="requirements"
          data-empty="omit"
        />
      </Field>
      <div class="suggestions row">
        {USUAL_REQUIREMENTS.map((line) => (
          <button type="button" class="compact" data-requirement={line}>
            + {parseRequirement(line)!.description}
          </button>
        ))}
      </div>
      <ul
        class="requirement-preview stack"
        id="requirement-preview"
        aria-live="polite"
        data-keep
        hidden
      />
    </div>
  )
}

const FIRST_TASKS = ['investigating', 'planning', 'implementing'] as const

/** What "Create and plan" starts. The browser chooses the usual task of the type until the person chooses one. */
function PlanChoice({ start }: { start: Providers }) {
  if (start.objections.folder !== null) return null
  return (
    <fieldset class="field-row plan-choice">
      <legend class="small muted">The first session, if you choose Create and plan</legend>
      <Field id="plan-type" label="Task">
        <select id="plan-type">
          {FIRST_TASKS.map((type) => (
            <option value={type} selected={type === usualSessionType('bug')}>
              {TASKS[type].task}
            </option>
          ))}
        </select>
      </Field>
      <Field id="plan-provider" label="Agent">
        <ProviderSelect id="plan-provider" choices={start} />
      </Field>
    </fieldset>
  )
}
