import { visibleText } from '../../rendering/hidden-characters.ts'

const ISSUE = /^https?:\/\/[^/]+\/([^/]+\/[^/]+)\/issues\/(\d+)$/

/** Where a case was imported from: a link if it is an address of the web, and `ada/shop#12` for an issue. */
export function SourceLink({ source }: { source: string }) {
  const [, repository, number] = ISSUE.exec(source) ?? []
  const text = visibleText(repository ? `${repository}#${number}` : source)
  if (!/^https?:\/\//.test(source) || !URL.canParse(source)) return <span>{text}</span>
  return (
    <a class="source-link" href={new URL(source).href} rel="noopener noreferrer" target="_blank">
      {text}
    </a>
  )
}
