import { expect, test } from 'vitest';
import { fieldsOf } from '../../src/site/shared/form-fields.ts';

const typed = { values: { name: 'A & B', level: 'warning', code: '123456' }, errors: { name: 'Too short.' } };

test('a field shows the entered value and its error', () => {
  const name = String(fieldsOf(typed).text('name', { label: 'Name', value: 'stored' }));
  expect(name).toContain('name="name"');
  expect(name).toContain('value="A &amp; B"');
  expect(name).toContain('aria-invalid="true" aria-describedby="name-error"');
  expect(name).toContain('Too short.');
});

test('until a value is entered, a field shows its own', () => {
  const fields = fieldsOf(typed);
  expect(String(fields.text('place', { label: 'Place', value: 'stored' }))).toContain('value="stored"');
  expect(String(fields.area('about', { label: 'About', value: 'stored' }))).toContain('>stored</textarea>');
  expect(String(fields.text('empty', { label: 'Empty' }))).toContain('value=""');
});

test('the entered option is selected', () => {
  const options: [string, string][] = [
    ['info', 'Information'],
    ['warning', 'Warning'],
  ];
  const level = String(fieldsOf(typed).select('level', { label: 'Level', value: 'info', options }));
  expect(level).toMatch(/<option value="warning" selected>/);
  expect(level).toMatch(/<option value="info" >/);
});

test('a secret is not shown again', () => {
  expect(String(fieldsOf(typed).secret('code', { label: 'Code' }))).not.toContain('123456');
});
