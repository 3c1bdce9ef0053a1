const moment = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

/** `21 November at 08:00 UTC` */
export function notificationTime(at: Date): string {
  return `${moment.format(at)} UTC`;
}

const counting = new Intl.NumberFormat('en-GB');

export function numberText(number: number): string {
  return counting.format(number);
}

export function votes(number: number): string {
  return `${numberText(number)} ${number === 1 ? 'vote' : 'votes'}`;
}
