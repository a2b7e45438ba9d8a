import type { Case } from '../../model/case.ts'
import { CASE_FIELDS } from '../../model/case-fields.ts'
import { KNOWN_CASE_TYPES } from '../../model/known-words.ts'
import { SLUG_RULE, TITLE_MAX } from '../../model/words.ts'
import type { Provider } from '../../sessions/providers.ts'
import type { Assets } from '../assets.ts'
import { CASES, casePage } from '../shell/addresses.ts'
import { Field } from '../shell/field.tsx'
import { Page } from '../shell/page.tsx'
import type { Words } from './words.ts'

interface NewCasePageProps {
  assets: Pick<Assets, 'href'>
  words: Words
  providers: readonly Provider[]
  /** What runs where a case names no provider. */
  usualProvider: string
  /** The case that the new one is to be part of. */
  parent: Case | undefined
}

/** The form of a new case. It leads to the page of the case. */
export function NewCasePage(props: NewCasePageProps) {
  const { assets, words, parent } = props
  const types = [...new Set([...words.types, ...KNOWN_CASE_TYPES])]
  return (
    <Page title="New case" assets={assets} kind="new-case">
      <nav class="crumbs" aria-label="Where this is">
        <a href={CASES}>Cases</a> /{' '}
        {parent && (
          <>
            <a href={casePage(parent.id)}>{parent.title}</a> /{' '}
          </>
        )}
        New case
      </nav>
      <h1>New case</h1>
      <noscript>
        <p>
          Without JavaScript: <code>casefile new</code> in a terminal makes one.
        </p>
      </noscript>
      <form
        class="card form new-case needs-script"
        data-send="POST"
        action="/cases"
        data-then="/case/{id}"
        autocomplete="off"
      >
        <Field id="new-title" label="Title" hint="What is wrong, or what is wanted, in one line.">
          <input
            id="new-title"
            name="title"
            required
            maxlength={TITLE_MAX}
            aria-describedby="new-title-hint"
          />
        </Field>
        <div class="new-case-pair">
          <Field id="new-type" label="Type" hint="One of the known, or a word of your own.">
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
          <Field id="new-tags" label="Tags" hint="Words with blanks or commas between them.">
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
          hint="Markdown. What a session is told of the case: what happens, what should, how to see it."
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
            Create the case
          </button>
          <a href={CASES} class="button" data-return>
            Cancel
          </a>
          <span class="muted small">
            <kbd>Ctrl</kbd> <kbd>Enter</kbd> creates it too
          </span>
        </div>
      </form>
    </Page>
  )
}

function More({ parent, providers, usualProvider }: NewCasePageProps) {
  return (
    <details open={parent !== undefined}>
      <summary>More: parent case, folder, provider</summary>
      <div class="form">
        <Field
          id="new-parent"
          label="Parent case"
          hint={parent ? `Part of: ${parent.title}` : 'The id of the case that it is part of.'}
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
          label="Folder to work in"
          hint="Where its sessions run, seen from the workspace; empty: the workspace itself."
        >
          <input
            id="new-workdir"
            name="workdir"
            placeholder="."
            data-empty="omit"
            aria-describedby="new-workdir-hint"
          />
        </Field>
        <Field id="new-provider" label="Provider" hint="What plans and works in its sessions.">
          <select
            id="new-provider"
            name="provider"
            data-empty="omit"
            aria-describedby="new-provider-hint"
          >
            <option value="">The usual one ({usualProvider})</option>
            {providers.map(({ id, trusted }) => (
              <option value={id}>{trusted ? id : `${id} (not trusted yet)`}</option>
            ))}
          </select>
        </Field>
      </div>
    </details>
  )
}
