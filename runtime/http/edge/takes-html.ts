/** Telling people from programs. */

/** Whether a person reads it: browsers name HTML, programs do not. */
export function takesHtml(accepted = ''): boolean {
  return accepted
    .toLowerCase()
    .split(',')
    .slice(0, 20)
    .map((one) => one.split(';').map((part) => part.trim()))
    .some(
      ([type, ...params]) =>
        type === 'text/html' && !params.some((param) => /^q=0(?:\.0*)?$/.test(param)),
    )
}
