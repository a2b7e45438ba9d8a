import type { Case } from '../../model/case.ts'
import { NEW_CASE_FIELDS } from '../../model/case-fields.ts'
import type { Provider } from '../../sessions/providers.ts'
import type { PageAssets } from '../assets.ts'
import { CASES, casePage } from '../shell/addresses.ts'
import { Breadcrumbs } from '../shell/breadcrumbs.tsx'
import { CaseFields } from '../shell/case-fields.tsx'
import { Page } from '../shell/page.tsx'
import type { Words } from './filters.ts'

interface NewCasePageProps {
  assets: PageAssets
  words: Words
  providers: readonly Provider[]
  /** The provider of a case that names none. */
  defaultProvider: string
  /** The parent of the new case. */
  parent: Case | undefined
}

/** The form of a new case. After it is sent, the page of the case opens. */
export function NewCasePage(props: NewCasePageProps) {
  const { assets, words, parent, providers, defaultProvider } = props
  const shared = {
    form: 'new' as const,
    values: parent ? { parent: parent.id } : {},
    hints: { parent: parent && `Part of: ${parent.title}` },
    words: { type: words.type },
    placeholders: { provider: `default (${defaultProvider})` },
    choices: {
      provider: providers.map(({ id, trusted }) => ({
        value: id,
        label: trusted ? id : `${id} (not trusted yet)`,
      })),
    },
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
        data-send="POST"
        action="/cases"
        data-then="/case/{id}"
        autocomplete="off"
      >
        <CaseFields {...shared} fields={NEW_CASE_FIELDS.filter(({ isBasic }) => isBasic)} />
        <details open={parent !== undefined}>
          <summary>More fields</summary>
          <div class="form">
            <CaseFields {...shared} fields={NEW_CASE_FIELDS.filter(({ isBasic }) => !isBasic)} />
          </div>
        </details>
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
