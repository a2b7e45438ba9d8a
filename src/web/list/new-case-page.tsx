import type { Case } from '../../model/case.ts'
import { CASE_FIELDS } from '../../model/case-fields.ts'
import { KNOWN_CASE_TYPES } from '../../model/known-words.ts'
import { SLUG_RULE, TITLE_MAX } from '../../model/words.ts'
import type { Provider } from '../../sessions/providers.ts'
import type { Assets } from '../assets.ts'
import { CASES, casePage } from '../shell/addresses.ts'
import { Breadcrumbs } from '../shell/breadcrumbs.tsx'
import { Field } from '../shell/field.tsx'
import { Page } from '../shell/page.tsx'
import type { Words } from './words.ts'

interface NewCasePageProps {
  assets: Pick<Assets, 'href' | 'workspace'>
  words: Words
  providers: readonly Provider[]
  /** The provider of cases that name none. */
  usualProvider: string
  /** The case that the new one is to be part of. */
  parent: Case | undefined
}

/** The form of a new case, which leads to the page of the case. */
export function NewCasePage(props: NewCasePageProps) {
  const { assets, words, parent } = props
  const types = [...new Set([...words.types, ...KNOWN_CASE_TYPES])]
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
        data-send="POST"
        action="/cases"
        data-then="/case/{id}"
        autocomplete="off"
      >
        <Field id="new-title" label="Title" hint="Summarize the problem or request.">
          <input
            id="new-title"
            name="title"
            required
            maxlength={TITLE_MAX}
            aria-describedby="new-title-hint"
          />
        </Field>
        <div class="new-case-pair">
          <Field id="new-type" label="Type" hint="Choose one or type your own.">
            <input
              id="new-type"
              name="type"
              list="known-types"
              placeholder={CASE_FIELDS.type.default}
              data-empty="omit"
              pattern="[a-z0-9][a-z0-9._\-]{0,63}"
              title={`Expected ${SLUG_RULE}`}
              aria-describedby="new-type-hint"
            />
            <datalist id="known-types">
              {types.map((type) => (
                <option value={type} />
              ))}
            </datalist>
          </Field>
          <Field id="new-tags" label="Tags" hint="Separate with spaces or commas.">
            <input
              id="new-tags"
              name="tags"
              data-as="words"
              data-empty="omit"
              aria-describedby="new-tags-hint"
            />
          </Field>
        </div>
        <Field
          id="new-description"
          label="Description"
          hint="What happens, what should happen, how to reproduce it. Agents see this. Markdown works."
        >
          <textarea
            id="new-description"
            name="description"
            rows={10}
            data-empty="omit"
            aria-describedby="new-description-hint"
          />
        </Field>
        <More {...props} />
        <div class="actions">
          <button type="submit" class="primary">
            Create case
          </button>
          <a href={CASES} class="button" data-return>
            Cancel
          </a>
          <span class="muted small">
            or <kbd>Ctrl</kbd> <kbd>Enter</kbd>
          </span>
        </div>
      </form>
    </Page>
  )
}

function More({ parent, providers, usualProvider }: NewCasePageProps) {
  return (
    <details open={parent !== undefined}>
      <summary>Parent case, working folder, provider</summary>
      <div class="form">
        <Field
          id="new-parent"
          label="Parent case"
          hint={
            parent ? `Part of: ${parent.title}` : 'The id of the case that this one is part of.'
          }
        >
          <input
            id="new-parent"
            name="parent"
            value={parent?.id}
            data-empty="omit"
            pattern="[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
            title="Expected the UUID of a case in lower case"
            aria-describedby="new-parent-hint"
          />
        </Field>
        <Field
          id="new-workdir"
          label="Working folder"
          hint="Where sessions run, relative to the workspace. Leave empty for the workspace itself."
        >
          <input
            id="new-workdir"
            name="workdir"
            placeholder="."
            data-empty="omit"
            aria-describedby="new-workdir-hint"
          />
        </Field>
        <Field
          id="new-provider"
          label="Provider"
          hint="What plans and does the work in sessions of this case."
        >
          <select
            id="new-provider"
            name="provider"
            data-empty="omit"
            aria-describedby="new-provider-hint"
          >
            <option value="">Default ({usualProvider})</option>
            {providers.map(({ id, trusted }) => (
              <option value={id}>{trusted ? id : `${id} (not trusted yet)`}</option>
            ))}
          </select>
        </Field>
      </div>
    </details>
  )
}
