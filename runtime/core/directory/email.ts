/** Validation of people's email addresses. */

/** Maximum length of an address (RFC 5321 section 4.5.3.1.3, without the angle brackets). */
export const MAX_EMAIL_LENGTH = 254

/** Reports whether a text has the usual form of an address. Only its mail server knows whether it exists. */
export const isEmail = (text: string): boolean =>
  text.length <= MAX_EMAIL_LENGTH &&
  /^[^\p{C}\s@"(),:;<>[\]\\]{1,64}@[^\p{C}\s@"(),:;<>[\]\\.]+(\.[^\p{C}\s@"(),:;<>[\]\\.]+)*$/u.test(
    text,
  )
