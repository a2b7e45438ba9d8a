import type { LocatedOperation } from './api-document.ts'

/** The example of a request, for a shell. */
export function curlLine({ method, path, operation }: LocatedOperation, origin: string): string {
  const { parameters, requestBody } = operation
  const named = parameters.filter(({ example }) => example !== undefined)
  const parametersIn = (location: string) => named.filter((parameter) => parameter.in === location)
  const filled = parametersIn('path').reduce(
    (all, { name, example }) => all.replace(`{${name}}`, String(example)),
    path,
  )
  const query = parametersIn('query').map(
    ({ name, example }) => `${name}=${encoded(String(example))}`,
  )
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const body = content?.example
  const isJson = type === 'application/json'
  const isStream = 'text/event-stream' in (operation.responses['200']?.content ?? {})
  return [
    `curl -sS${isStream && !isJson ? 'N' : ''}`,
    ...(method === 'GET' || (method === 'POST' && body !== undefined) ? [] : [`-X ${method}`]),
    quoted(`${origin}${filled}${query.length > 0 ? `?${query.join('&')}` : ''}`),
    ...parametersIn('header').map(
      ({ name, example }) => `-H ${quoted(`${name}: ${String(example)}`)}`,
    ),
    ...(body === undefined ? [] : [`-H ${quoted(`Content-Type: ${type}`)}`]),
    ...(body === undefined
      ? []
      : [`--data-binary ${quoted(isJson ? JSON.stringify(body) : String(body))}`]),
  ].join(' ')
}

/** For a query, with the commas and colons that can be read there. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/%2C/g, ',').replace(/%3A/g, ':')
}

function quoted(text: string): string {
  return /^[\w:/.,=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
