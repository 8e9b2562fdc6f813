<?php
/**
 * Files that change at a chosen moment: PHP's own access to files, with a hook that runs before one is opened. What happens between
 * two steps of the guard happens there each time, however busy the machine is.
 */
class Disturbed_Files {
	public $context;
	/** Gets the path and the mode of each file that is opened. */
	private static $before;
	private $handle;

	/** Runs something while each opening of a file is told to a hook first. */
	public static function during( callable $before, callable $do ) {
		self::$before = $before;
		self::enter();
		try {
			return $do();
		} finally {
			self::leave();
		}
	}

	private static function enter(): void {
		stream_wrapper_unregister( 'file' );
		stream_wrapper_register( 'file', self::class );
	}

	private static function leave(): void { stream_wrapper_restore( 'file' ); }

	/** As PHP does it itself. */
	private static function plainly( callable $do ) {
		self::leave();
		try {
			return $do();
		} finally {
			self::enter();
		}
	}

	public function stream_open( $path, $mode, $options, &$opened ): bool {
		return self::plainly(
			function () use ( $path, $mode ) {
				( self::$before )( $path, $mode );
				$this->handle = @fopen( $path, $mode );
				return (bool) $this->handle;
			}
		);
	}

	public function stream_read( $length ) { return fread( $this->handle, $length ); }

	public function stream_write( $data ) { return fwrite( $this->handle, $data ); }

	public function stream_eof(): bool { return feof( $this->handle ); }

	public function stream_close(): void { fclose( $this->handle ); }

	public function stream_flush(): bool { return fflush( $this->handle ); }

	public function stream_seek( $offset, $whence = SEEK_SET ): bool { return 0 === fseek( $this->handle, $offset, $whence ); }

	public function stream_tell(): int { return ftell( $this->handle ); }

	public function stream_stat() { return fstat( $this->handle ); }

	public function stream_lock( $how ): bool { return flock( $this->handle, $how ); }

	public function stream_truncate( $size ): bool { return ftruncate( $this->handle, $size ); }

	public function stream_set_option( $option, $a, $b ): bool { return false; }

	public function stream_metadata( $path, $option, $value ): bool {
		return self::plainly( fn() => STREAM_META_TOUCH === $option ? touch( $path, ...$value ) : chmod( $path, $value ) );
	}

	public function url_stat( $path, $flags ) {
		return self::plainly( fn() => $flags & STREAM_URL_STAT_LINK ? @lstat( $path ) : @stat( $path ) );
	}

	public function dir_opendir( $path, $options ): bool {
		$this->handle = self::plainly( fn() => @opendir( $path ) );
		return (bool) $this->handle;
	}

	public function dir_readdir() { return readdir( $this->handle ); }

	public function dir_closedir(): void { closedir( $this->handle ); }

	public function mkdir( $path, $mode, $options ): bool { return self::plainly( fn() => @mkdir( $path, $mode ) ); }

	public function rmdir( $path, $options ): bool { return self::plainly( fn() => @rmdir( $path ) ); }

	public function unlink( $path ): bool { return self::plainly( fn() => @unlink( $path ) ); }

	public function rename( $from, $to ): bool { return self::plainly( fn() => @rename( $from, $to ) ); }
}
