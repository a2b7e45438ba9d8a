/** Headers of every response, also of one that does not reach the app: browsers show it to no other site. */
export const PROTECTIVE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
}
