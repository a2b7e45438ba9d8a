/** A tool call in one line: the tool and its subject. */
export function callText({
  tool,
  kind,
  title = '',
}: {
  tool: string
  kind?: string
  title?: string
}): string {
  if (title === '') return tool
  const isNamed = title.toLowerCase().startsWith(tool.toLowerCase())
  // some agents report only the kind of a tool, and describe the call in the title
  const isSaid = tool === kind && (kind === 'other' || /^[A-Z][a-z]+ /.test(title))
  return isNamed || isSaid ? title : `${tool} ${title}`
}
