import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import type { Heading, Rendered } from '../../rendering/markdown/options.ts'
import type { PageAssets } from '../assets.ts'
import { API_PAGE, HELP, helpPage } from '../shell/addresses.ts'
import { Breadcrumbs } from '../shell/breadcrumbs.tsx'
import { Page } from '../shell/page.tsx'
import { TextBox } from '../shell/text-box.tsx'
import type { Help, HelpPage } from './data.ts'

interface DocProps {
  assets: PageAssets
  help: Help
  page: HelpPage
  text: string
  /** Null if it takes too long to render. */
  rendered: Rendered | null
}

/** A page of the docs, with its headings beside it. */
export function DocPage({ assets, help, page, text, rendered }: DocProps) {
  return (
    <HelpFrame
      title={page.title}
      assets={assets}
      help={help}
      current={page}
      headings={rendered?.headings ?? []}
    >
      {rendered === null ? (
        <TextBox label={page.title} class="plain-text">
          {text}
        </TextBox>
      ) : (
        <article class="markdown help-text">{raw(rendered.html)}</article>
      )}
    </HelpFrame>
  )
}

interface OverviewProps {
  assets: PageAssets
  help: Help
  concepts: Rendered | null
}

/** How a case goes from a question to its proof, what people ask, and all pages. */
export function HelpOverview({ assets, help, concepts }: OverviewProps) {
  return (
    <HelpFrame title="Help" assets={assets} help={help}>
      <div class="help-text stack">
        <h1>Help</h1>
        <p class="lead">
          How Casefile works, what to do when something doesn't, and everything to look up. It is
          part of the program, so it works offline.
        </p>
        <p class="help-ways row">
          <span>
            <button type="button" class="compact needs-script" data-help>
              Keys of this page <kbd>?</kbd>
            </button>
          </span>
          <span class="muted small">
            <kbd>?</kbd> shows the keys on every page. <kbd>Ctrl</kbd> <kbd>K</kbd> finds cases,
            actions and these pages.
          </span>
        </p>
        {help.questions.length > 0 && (
          <section class="card" id="questions" aria-labelledby="questions-title">
            <h2 id="questions-title">When you are stuck</h2>
            <div class="help-questions">
              {[...new Set(help.questions.map(({ about }) => about))].map((about) => (
                <section>
                  {about !== '' && <h3>{about}</h3>}
                  <ul class="plain-list">
                    {help.questions
                      .filter((question) => question.about === about)
                      .map(({ text, href }) => (
                        <li>
                          <a href={href}>{text}</a>
                        </li>
                      ))}
                  </ul>
                </section>
              ))}
            </div>
          </section>
        )}
        {concepts && <div class="markdown">{raw(concepts.html)}</div>}
      </div>
    </HelpFrame>
  )
}

interface FrameProps {
  title: string
  assets: PageAssets
  help: Help
  current?: HelpPage
  headings?: readonly Heading[]
  children: Child
}

function HelpFrame({ title, assets, help, current, headings = [], children }: FrameProps) {
  return (
    <Page title={current ? `${title} · Help` : title} assets={assets} kind="help">
      {current && <Breadcrumbs above={[{ href: HELP, text: 'Help' }]} current={title} />}
      <a class="help-jump small" href="#help-pages">
        All help pages
      </a>
      <div class="help">
        {children}
        <div class="help-side stack">
          <OnThisPage headings={headings} />
          <HelpNav help={help} current={current} />
        </div>
      </div>
    </Page>
  )
}

const FEW = 2
const MANY = 24

function OnThisPage({ headings }: { headings: readonly Heading[] }) {
  const below = headings.filter(({ level }) => level === 2 || level === 3)
  const shown = below.length > MANY ? below.filter(({ level }) => level === 2) : below
  if (shown.length <= FEW) return null
  return (
    <nav class="stack" aria-label="On this page">
      <h2>On this page</h2>
      <ul class="plain-list">
        {shown.map(({ id, text, level }) => (
          <li data-level={level}>
            <a href={`#${id}`}>{text}</a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

function HelpNav({ help: { groups }, current }: { help: Help; current: HelpPage | undefined }) {
  const link = (href: string, text: string, isCurrent: boolean) => (
    <li>
      <a href={href} aria-current={isCurrent ? 'page' : undefined}>
        {text}
      </a>
    </li>
  )
  return (
    <nav class="stack" aria-label="Help pages" id="help-pages">
      <h2>Help pages</h2>
      <ul class="plain-list">
        {link(HELP, 'Overview', current === undefined)}
        {link(helpPage(API_PAGE), 'API reference', current?.name === API_PAGE)}
      </ul>
      {groups.map(({ title, pages }) => (
        <>
          <h3>{title}</h3>
          <ul class="plain-list">
            {pages.map((page) => link(helpPage(page.name), page.title, page === current))}
          </ul>
        </>
      ))}
    </nav>
  )
}
