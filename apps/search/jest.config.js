import preset from '../../jest.preset.js';

export default { ...preset, displayName: 'search', rootDir: import.meta.dirname };
