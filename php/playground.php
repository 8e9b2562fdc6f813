<?php
/**
 * The database of a copy in WordPress Playground: loads statements of a backup into SQLite, and answers queries.
 *
 * Tables are made by the SQLite integration, which translates MySQL's statements. Rows go past it, straight into SQLite: it would
 * read 35 KB in a second, and refuses what some sites have, such as dates of zeros.
 */

ini_set( 'memory_limit', '1G' );
require '/sqlite/wp-includes/database/load.php';

/** One value of an INSERT, as Sitefleet writes them. */
const SITEFLEET_VALUE = "/\\G(?:NULL|'(?:[^'\\\\]++|\\\\.)*+'|0x[0-9a-f]+|\\d+|CONVERT\\('(?:[^'\\\\]++|\\\\.)*+' USING utf8mb4\\))/s";
const SITEFLEET_ESCAPES = array( '\\0' => "\0", '\\n' => "\n", '\\r' => "\r", '\\Z' => "\x1a", '\\\\' => '\\', "\\'" => "'" );

function sitefleet_database() {
	return new WP_MySQL_On_SQLite( 'mysql-on-sqlite:path=/db/copy.sqlite;dbname=copy', null, null, array( 'sqlite_journal_mode' => 'MEMORY' ) );
}

/** Carries out statements, each of which ends with its line. Returns null, or the statement that was refused, and why. */
function sitefleet_load( $sql ) {
	$db  = sitefleet_database();
	$pdo = $db->get_connection()->get_pdo();
	$pdo->exec( 'PRAGMA synchronous = OFF' );
	foreach ( preg_split( '/(?<=;\n)/', $sql ) as $statement ) {
		$statement = preg_replace( '/\A(?:-- .*\n)+/', '', $statement );
		if ( '' === $statement || preg_match( '/\A(?:SET|DROP TABLE IF EXISTS) /', $statement ) ) {
			continue;
		}
		try {
			if ( 0 === strncmp( $statement, 'CREATE TABLE ', 13 ) ) {
				$db->exec( $statement );
			} else {
				$pdo->beginTransaction();
				sitefleet_insert( $pdo, $statement );
				$pdo->commit();
			}
		} catch ( Throwable $error ) {
			return array( substr( $statement, 0, 80 ), substr( $error->getMessage(), 0, 300 ) );
		}
	}
	return null;
}

function sitefleet_insert( $pdo, $sql ) {
	$name = '`(?:[^`]|``)+`';
	if ( ! preg_match( "/\\AINSERT INTO ($name) \\(($name(?:, $name)*)\\) VALUES\n/", $sql, $head ) ) {
		throw new Exception( 'This is no statement of a backup.' );
	}
	list( $all, $table, $columns ) = $head;
	$types                         = array();
	foreach ( $pdo->query( "PRAGMA table_info($table)" ) as $column ) {
		$types[ $column['name'] ] = $column['type'];
	}
	preg_match_all( "/$name/", $columns, $names );
	$kinds = array();
	foreach ( $names[0] as $column ) {
		$kinds[] = 'BLOB' === $types[ str_replace( '``', '`', substr( $column, 1, -1 ) ) ] ? PDO::PARAM_LOB : PDO::PARAM_STR;
	}
	$insert = $pdo->prepare( "INSERT INTO $table ($columns) VALUES (" . implode( ',', array_fill( 0, count( $kinds ), '?' ) ) . ')' );
	$length = strlen( $sql );
	for ( $at = strlen( $all ); $at < $length; $at += 3 ) {
		$cell = 0;
		do {
			if ( ! isset( $kinds[ $cell ] ) || ! preg_match( SITEFLEET_VALUE, $sql, $found, 0, $at + 1 ) ) {
				throw new Exception( 'This is no row of a backup.' );
			}
			$at   += 1 + strlen( $found[0] );
			$value = sitefleet_value( $found[0] );
			$insert->bindValue( $cell + 1, $value, null === $value ? PDO::PARAM_NULL : $kinds[ $cell ] );
			++$cell;
		} while ( ',' === $sql[ $at ] );
		if ( count( $kinds ) !== $cell || ')' !== $sql[ $at ] ) {
			throw new Exception( 'This is no row of a backup.' );
		}
		$insert->execute();
	}
}

function sitefleet_value( $literal ) {
	switch ( $literal[0] ) {
		case 'N':
			return null;
		case "'":
			return strtr( substr( $literal, 1, -1 ), SITEFLEET_ESCAPES );
		case 'C':
			return strtr( substr( $literal, 9, -16 ), SITEFLEET_ESCAPES );
		default:
			return 0 === strncmp( $literal, '0x', 2 ) ? hex2bin( substr( $literal, 2 ) ) : $literal;
	}
}

/** Rows of a query in MySQL's language, each a list of texts; NULL is null. */
function sitefleet_query( $sql ) {
	$rows = sitefleet_database()->query( $sql )->fetchAll( PDO::FETCH_NUM );
	return array_map(
		function ( $row ) {
			return array_map(
				function ( $cell ) {
					return null === $cell ? null : (string) $cell;
				},
				$row
			);
		},
		$rows
	);
}
